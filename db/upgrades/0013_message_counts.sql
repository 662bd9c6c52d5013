-- How many messages a conversation has, kept by a trigger: counting them took longer than reading
-- what is shown of a long one.
ALTER TABLE conversations ADD COLUMN messages integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN conversations.messages IS 'how many there are, as a trigger counts them';

CREATE FUNCTION count_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE conversations c SET messages = c.messages + a.n
    FROM (SELECT tenant_id, conversation_id, count(*)::integer AS n FROM added GROUP BY 1, 2) a
    WHERE (c.tenant_id, c.id) = (a.tenant_id, a.conversation_id);
    RETURN NULL;
END $$;
CREATE TRIGGER messages_counted AFTER INSERT ON messages
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_messages();

UPDATE conversations c SET messages = a.n
FROM (SELECT tenant_id, conversation_id, count(*)::integer AS n FROM messages GROUP BY 1, 2) a
WHERE (c.tenant_id, c.id) = (a.tenant_id, a.conversation_id);
