"""Retrieval, from a question to judged passages: embed, search, gate, rerank; calibration."""
