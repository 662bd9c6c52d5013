"""An Anki collection, which is a SQLite database within an .apkg file."""

# A view of that name could run anything.
NOTES_ARE = "SELECT type FROM sqlite_master WHERE name = 'notes'"

# The fields of a note are one text, with a separator between them. In SQLite any type may be there.
FIELDS = "SELECT flds FROM notes WHERE typeof(flds) = 'text' ORDER BY id LIMIT ?"
