"""Questions about an image: the image is the context, no document is searched, nothing is cited."""
