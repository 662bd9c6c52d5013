"""From a question to judged passages: embed, search, gate, rerank; rewriting and calibration."""
