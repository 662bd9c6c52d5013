"""Vendors played at the wire: small servers that speak their formats and fail in their ways."""
