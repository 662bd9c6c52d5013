"""The one error of ``db``: a single line that says what is wrong and how to mend it."""


class DatabaseError(Exception):
    """The database cannot be started, reached or migrated; never holds a password."""
