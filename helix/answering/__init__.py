"""The one answering path: engine, answer, proof, guardrails, judging, pipeline."""
