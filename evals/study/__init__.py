"""Study items at scale: spans, wrong options and seeded bad items, by corpus and by kind."""
