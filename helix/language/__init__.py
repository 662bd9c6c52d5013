"""Text as language has it: sentences, words, terms, folding. Pure."""
