"""The headers that the page is served under: what it may load, and who may frame it. Pure."""

from __future__ import annotations

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        # blob: a picture that the user chose, shown before it is sent
        "img-src 'self' blob:",
        "connect-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        # text becomes markup in one place only, the sanitizer's
        "require-trusted-types-for 'script'",
        "trusted-types dompurify",
    ]
)

PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""Of the page and of all that it is made of."""
