"""Real language models of tests and measurements: fetched, served by llama.cpp, asked."""
