"""Plugins, each by a package that is built and unpacked as an installer does."""
