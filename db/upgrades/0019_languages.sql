-- What was not English was stored as simple. A server tells the language of such documents when it
-- starts, and makes their terms anew; until then they are found by their words as they stand.
UPDATE documents SET language = '' WHERE language = 'simple';
COMMENT ON COLUMN documents.language IS
    'in which its words are stemmed, by Snowball''s name; simple: in none; empty: not told yet';
