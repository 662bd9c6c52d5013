"""Changing the embedder: a second column filled, indexed, swapped in, while questions go on."""
