"""What a learner did and when: sessions, days, streaks and badges; no text of anybody's."""
