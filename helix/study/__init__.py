"""Study: quizzes, cards, workshops and maps made of a scope, each item proven by its span."""
