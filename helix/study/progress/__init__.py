"""The progress of learners: sessions, days, streaks and badges; counts and times, no text."""
