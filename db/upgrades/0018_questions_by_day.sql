-- The most questions of a day, of all of a learner's days in any time zone, is read for a badge.
CREATE INDEX progress_questions ON progress_counts (tenant_id, learner, quarter) INCLUDE (n)
    WHERE action = 'question_asked';
