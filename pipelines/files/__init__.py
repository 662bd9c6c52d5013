"""The way of one file: read, split, embed, write."""
