"""Cards: what is due, reviews, and undoing one."""

from helix.storage.statements import compose
from helix.storage.statements.study_items import COLUMNS

# Whoever is limited to some spaces sees a card of a readable document, but maybe not its set.
_SEEN = """EXISTS (
    SELECT FROM study_sets t WHERE t.tenant_id = %(tenant)s AND t.id = i.set_id)"""

# Those that are due first, the longest overdue before; then new ones.
DUE = compose(
    """
SELECT {columns}, c.card, to_json(c.due_at) AS due_at
FROM study_items i LEFT JOIN study_cards c
    ON c.tenant_id = i.tenant_id AND c.item_id = i.id AND c.learner = %(learner)s
WHERE i.tenant_id = %(tenant)s AND i.kind = 'card' AND {seen}
    AND (c.due_at IS NULL OR c.due_at <= %(now)s)
    AND (%(set_id)s::bigint IS NULL OR i.set_id = %(set_id)s)
ORDER BY c.due_at IS NULL, c.due_at, i.id LIMIT %(limit)s
""",
    columns=COLUMNS, seen=_SEEN,
)  # fmt: skip

# With the time when the next is due, for a page to look again.
COUNTS = compose(
    """
SELECT count(*) FILTER (WHERE c.due_at <= %(now)s) AS due,
    count(*) FILTER (WHERE c.due_at IS NULL) AS new,
    count(*) AS cards, to_json(min(c.due_at) FILTER (WHERE c.due_at > %(now)s)) AS next_at
FROM study_items i LEFT JOIN study_cards c
    ON c.tenant_id = i.tenant_id AND c.item_id = i.id AND c.learner = %(learner)s
WHERE i.tenant_id = %(tenant)s AND i.kind = 'card' AND {seen}
    AND (%(set_id)s::bigint IS NULL OR i.set_id = %(set_id)s)
""",
    seen=_SEEN,
)

# The item's row is locked: two reviews of a card at once would each begin at the same state.
HOLD = """
SELECT i.id, c.card FROM study_items i LEFT JOIN study_cards c
    ON c.tenant_id = i.tenant_id AND c.item_id = i.id AND c.learner = %(learner)s
WHERE i.tenant_id = %(tenant)s AND i.id = %(item_id)s AND i.kind = 'card' FOR UPDATE OF i
"""

# FSRS's state of the card, as the library writes it; due_at beside it for the index.
KEEP = """
INSERT INTO study_cards (tenant_id, item_id, learner, card, due_at)
VALUES (%(tenant)s, %(item_id)s, %(learner)s, %(card)s, %(due_at)s)
ON CONFLICT (tenant_id, item_id, learner) DO UPDATE
SET card = excluded.card, due_at = excluded.due_at
"""

# With the state before, for the review to be undone.
REVIEWED = """
INSERT INTO study_reviews (tenant_id, item_id, learner, rating, before, reviewed_at)
VALUES (%(tenant)s, %(item_id)s, %(learner)s, %(rating)s, %(before)s, %(now)s)
"""

# Whether this review was the one that left no card of its deck with a shorter interval.
MASTERED = """
SELECT bool_and(coalesce((c.card ->> 'due')::timestamptz - (c.card ->> 'last_review')::timestamptz
        >= %(known)s, false)) AS mastered
FROM study_items own JOIN study_items i ON (i.tenant_id, i.set_id) = (own.tenant_id, own.set_id)
LEFT JOIN study_cards c
    ON c.tenant_id = i.tenant_id AND c.item_id = i.id AND c.learner = %(learner)s
WHERE own.tenant_id = %(tenant)s AND own.id = %(item_id)s AND i.kind = 'card'
"""

# The learner's last review, whichever card it was of.
TAKE_LAST = """
DELETE FROM study_reviews WHERE tenant_id = %(tenant)s AND id = (
    SELECT max(id) FROM study_reviews WHERE tenant_id = %(tenant)s AND learner = %(learner)s)
RETURNING item_id, rating, before
"""

# Undoing a card's first review leaves it as if it were never seen.
NEW_AGAIN = """
DELETE FROM study_cards
WHERE tenant_id = %(tenant)s AND item_id = %(item_id)s AND learner = %(learner)s
"""
