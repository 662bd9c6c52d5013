"""The measures of an answer, each in a file of its own."""
