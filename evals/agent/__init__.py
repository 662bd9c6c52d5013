"""The agent: which tools it calls, which sources it finds, what it answers and proves."""
