"""Attempts of learners at quizzes."""

from helix.storage.statements import compose

# An attempt as routes tell it.
_COLUMNS = """
id, set_id, answers, right_count AS "right", asked_count AS "of", to_json(started_at) AS started_at,
to_json(finished_at) AS finished_at
"""

# A learner has one unfinished attempt at a quiz, and gets it again.
OPEN = compose(
    """
INSERT INTO study_attempts (tenant_id, set_id, learner)
VALUES (%(tenant)s, %(set_id)s, %(learner)s)
ON CONFLICT (tenant_id, set_id, learner) WHERE finished_at IS NULL
DO UPDATE SET learner = excluded.learner RETURNING {columns}
""",
    columns=_COLUMNS,
)

# Newest first.
LIST = compose(
    """
SELECT {columns} FROM study_attempts
WHERE tenant_id = %(tenant)s AND set_id = %(set_id)s AND learner = %(learner)s ORDER BY id DESC
""",
    columns=_COLUMNS,
)

# Held until the answer is counted: two at once would count one.
HOLD = compose(
    """
SELECT {columns} FROM study_attempts
WHERE tenant_id = %(tenant)s AND id = %(id)s AND learner = %(learner)s FOR UPDATE
""",
    columns=_COLUMNS,
)

# How many are asked is told at the end; until then never fewer than are right.
ANSWER = """
UPDATE study_attempts SET answers = answers || %(answer)s, right_count = %(right)s,
    asked_count = greatest(asked_count, %(right)s)
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Scored once; a finished attempt takes no answer.
FINISH = """
UPDATE study_attempts SET finished_at = now(), right_count = %(right)s, asked_count = %(of)s
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""
