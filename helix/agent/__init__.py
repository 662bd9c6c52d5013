"""The agent: it gathers passages with tools; the one answering path answers from them."""
