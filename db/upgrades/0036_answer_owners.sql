-- An answer is found by its text by whoever asked alone: refusals all have the same text, and found by
-- it they told every member of the tenant what somebody else had asked.
ALTER TABLE answers ADD COLUMN owner text NOT NULL DEFAULT '';
COMMENT ON COLUMN answers.owner IS
    'who alone finds it by its text, as conversations have it; whoever has its id needs no more';
UPDATE answers a SET owner = c.owner
FROM messages m JOIN conversations c ON (c.tenant_id, c.id) = (m.tenant_id, m.conversation_id)
WHERE (m.tenant_id, m.answer_id) = (a.tenant_id, a.id) AND c.owner <> '';
