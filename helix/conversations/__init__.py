"""Conversations: trees of questions with their answers; an answer goes on without its client."""
