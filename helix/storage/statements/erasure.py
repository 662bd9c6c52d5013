"""All that is stored of one tenant, or of one person, to be deleted in one transaction."""

from helix.domain.contract import OPEN_RUN
from helix.storage.statements import compose

# An open run would bring documents back.
OPEN_RUN_OF = compose(
    "SELECT id FROM runs WHERE tenant_id = %s AND status IN {open} ORDER BY id LIMIT 1",
    open=str(OPEN_RUN),
)

# First, and to the end: meanwhile no answer of the tenant is kept (answer_may_be_kept).
HOLD_ANSWERS = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"

# When it is done; those of before have no question any more that would be answered.
ERASED = """
WITH old AS (DELETE FROM erasures WHERE erased_at < now() - interval '1 day')
INSERT INTO erasures (tenant, erased_at) VALUES (hashtextextended(%s, 0), clock_timestamp())
ON CONFLICT (tenant) DO UPDATE SET erased_at = excluded.erased_at
"""

# Counted before they go, for whoever asked for it to be told.
COUNT_DOCUMENTS = "SELECT count(*) FROM documents WHERE tenant_id = %s"

# feedback goes with its answers, messages with their conversations, run_files with their runs; the
# answers and conversations before the documents, or each would be rewritten for those that go
COUNTED = {
    "conversations": "DELETE FROM conversations WHERE tenant_id = %s",
    "answers": "DELETE FROM answers WHERE tenant_id = %s",
    "runs": "DELETE FROM runs WHERE tenant_id = %s",
    "keys": "DELETE FROM api_keys WHERE tenant_id = %s",
}

# where the documents of a tenant's conversations are (helix/conversations/attachments.py)
SPACES = """
SELECT tenant_id FROM documents WHERE starts_with(tenant_id, %s || '/')
GROUP BY tenant_id ORDER BY tenant_id
"""

# What nobody is told the number of.
LEFT = (
    "DELETE FROM study_sets WHERE tenant_id = %s",
    "DELETE FROM runs WHERE tenant_id = %s",
    "DELETE FROM files WHERE tenant_id = %s",
    "DELETE FROM term_changes WHERE tenant_id = %s",
    "DELETE FROM term_counts WHERE tenant_id = %s",
    "DELETE FROM gate_fits WHERE tenant_id = %s",
    "DELETE FROM prompt_versions WHERE tenant_id = %s",
    "DELETE FROM tenant_settings WHERE tenant_id = %s",
    "DELETE FROM progress_sessions WHERE tenant_id = %s",
    "DELETE FROM progress_days WHERE tenant_id = %s",
    "DELETE FROM progress_counts WHERE tenant_id = %s",
    "DELETE FROM progress_totals WHERE tenant_id = %s",
    "DELETE FROM sources WHERE tenant_id = %s",
    "DELETE FROM removals WHERE tenant_id = %s",
    "DELETE FROM spaces WHERE tenant_id = %s",
    "DELETE FROM invitations WHERE tenant_id = %s",
    "DELETE FROM groups WHERE tenant_id = %s",
    # and the people who are members of no other
    "WITH gone AS (DELETE FROM members WHERE tenant_id = %s RETURNING person_id, tenant_id)"
    " DELETE FROM people p USING gone g WHERE p.id = g.person_id AND NOT EXISTS"
    " (SELECT FROM members m WHERE m.person_id = p.id AND m.tenant_id <> g.tenant_id)",
    "DELETE FROM audit_events WHERE tenant_id = %s",
    "DELETE FROM usage_counts WHERE tenant_id = %s",
    "DELETE FROM usage_days WHERE tenant_id = %s",
    "DELETE FROM usage_limits WHERE tenant_id = %s",
)

# Of a person in all tenants; the documents put to them are in spaces of their own. Held to the end,
# so that none is put to one meanwhile.
CONVERSATIONS_OF = """
SELECT tenant_id, id FROM conversations WHERE owner = %s ORDER BY tenant_id, id FOR UPDATE
"""

# Which of the spaces have, or are about to have, documents.
USED_SPACES = """
SELECT tenant_id FROM documents WHERE tenant_id = ANY(%(spaces)s)
UNION SELECT tenant_id FROM runs WHERE tenant_id = ANY(%(spaces)s) ORDER BY 1
"""

# Shares and what others say of them go with the conversations, feedback with the answers.
OF_PERSON = {
    "conversations": "DELETE FROM conversations WHERE owner = %(owner)s",
    "answers": "DELETE FROM answers WHERE owner = %(owner)s",
    "study sets": "DELETE FROM study_sets WHERE owner = %(owner)s",
    "days of progress": "DELETE FROM progress_days WHERE learner = %(learner)s",
}

# The other rows of their progress, what they answered in study sets of others, and invitations that
# name their address. All else goes with the account: sessions, tokens, passkeys, usage, comments,
# places in groups and spaces. The audit log keeps a number.
REST_OF_PERSON = (
    "DELETE FROM progress_sessions WHERE learner = %(learner)s",
    "DELETE FROM progress_counts WHERE learner = %(learner)s",
    "DELETE FROM progress_totals WHERE learner = %(learner)s",
    "DELETE FROM study_attempts WHERE learner = %(learner)s",
    "DELETE FROM study_cards WHERE learner = %(learner)s",
    "DELETE FROM study_reviews WHERE learner = %(learner)s",
    "DELETE FROM usage_counts WHERE subject = %(learner)s OR subject IN"
    " (SELECT 'key ' || id FROM api_keys WHERE person_id = %(person)s)",
    "DELETE FROM invitations i USING people p WHERE p.id = %(person)s AND i.email = p.email",
    "DELETE FROM people WHERE id = %(person)s",
)
