# `make demo` and `make test` are all a newcomer needs; both work on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help install demo test test-browser lint types check migrate seed serve eval redteam bench soak clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(STAMP) ## The virtual environment in .venv

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Helix needs Python 3.11 or newer: make PYTHON=/path/to/python3 install'; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
	  || { echo 'No venv module: install it (Debian: apt install python3-venv)'; exit 1; }
	@echo 'Installing into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: install ## From a file to a cited, streamed answer and a refusal: no key, no Docker
	@$(BIN)/python scripts/demo.py

test: install ## Every test
	@$(BIN)/python -m pytest -m 'not soak and not browser' -n 3 --dist loadfile

test-browser: install ## The page in headless Chromium (Debian: apt install chromium)
	@$(BIN)/python -m pytest tests/browser -m browser

lint: install ## Ruff, rules and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: install ## mypy, strict
	@$(BIN)/mypy

check: test lint types ## Tests, lint, types

migrate: install ## Apply the schema to DATABASE_URL
	@$(BIN)/python -m db.migrate

seed: migrate ## Ingest samples/
	@$(BIN)/python -m pipelines.ingest samples

serve: install ## Serve on http://127.0.0.1:8080
	@$(BIN)/helix serve

eval: install ## Ask the golden set over samples/; ARGS="--suite squad2 --data DIR" and the like
	@$(BIN)/python -m evals.run $(ARGS)

redteam: install ## Attack a service with the offline provider; fails where a probe gets through
	@$(BIN)/python -m evals.redteam

bench: install ## Ratios against named floors, measured in one run
	@$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

soak: install ## The full counts: kills, fuzz, load; and a model in the process (PyTorch)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,cross-encoder]'
	@$(BIN)/python -m pytest -m 'soak and not browser' --timeout 1800 --durations=10

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
