"""Other people's protocols over the one answering path: one adapter a file, one a wire format."""
