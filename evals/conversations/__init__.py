"""Conversations: how well follow-ups find, and which turns are answered at all."""
