"""Receipts: what each answer was made from, kept for a time; read, verified and replayed.

A receipt has the answer and the characters it cites, and of everything else references: chunk ids,
spans, hashes, numbers. Its prompt is rebuilt from what is stored when it is read.
"""
