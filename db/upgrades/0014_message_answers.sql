-- A replay finds the conversation that an answer was given in.
CREATE INDEX messages_answer ON messages (tenant_id, answer_id);
