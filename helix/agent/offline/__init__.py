"""The agent without a model: a question taken apart by rule, and a plan that gathers for it."""
