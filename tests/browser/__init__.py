"""The page in a headless Chromium: `make test-browser`."""
