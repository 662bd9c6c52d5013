"""The agent without a model: rules divide a question, and plan the calls for it."""
