"""Other people's protocols over the one answering path: a file a wire format, adapters only."""
