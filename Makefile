# `make demo` and `make test` are all a newcomer needs; both work on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.installed
ALL    := $(VENV)/.installed-dev

.PHONY: help install demo test test-browser lint types check migrate seed serve eval redteam bench soak docs clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(RUN) ## What running needs, in .venv; EXTRAS=ocr,openai adds extras
	@$(if $(EXTRAS),PYTHON=$(PYTHON) scripts/install $(VENV) $(EXTRAS))

$(RUN): pyproject.toml constraints.txt scripts/install
	@PYTHON=$(PYTHON) scripts/install $(VENV)
	@touch $@

$(ALL): pyproject.toml constraints.txt scripts/install
	@PYTHON=$(PYTHON) scripts/install $(VENV) dev
	@touch $@ $(RUN)

demo: $(RUN) ## From a file to a cited, streamed answer and a refusal: no key, no Docker
	@$(BIN)/helix demo

test: $(ALL) ## Every test
	@$(BIN)/python -m pytest -m 'not soak' --ignore tests/browser -n 4 --dist loadfile

test-browser: $(ALL) ## The page in headless Chromium (Debian: apt install chromium)
	@$(BIN)/python -m pytest tests/browser -m browser -n 2 --dist loadfile

lint: $(ALL) ## Ruff, rules and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(ALL) ## mypy, strict
	@$(BIN)/mypy

check: test lint types ## Tests, lint, types

migrate: $(RUN) ## Apply the schema to DATABASE_URL
	@$(BIN)/helix migrate

seed: migrate ## Ingest samples/
	@$(BIN)/helix ingest samples

serve: $(RUN) ## Serve on http://127.0.0.1:8080
	@$(BIN)/helix serve

eval: $(ALL) ## Ask the golden set over samples/; ARGS="--suite squad2 --data DIR" and the like
	@$(BIN)/python -m evals.run $(ARGS)
	@$(BIN)/python -m evals.documents
	@$(BIN)/python -m evals.conversations

redteam: $(ALL) ## Attack a service with the offline provider; fails where a probe gets through
	@$(BIN)/python -m evals.redteam

bench: $(ALL) ## Ratios against named floors, measured in one run
	@$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

soak: $(ALL) ## The full counts: kills, fuzz, load; and a model in the process (PyTorch)
	@PYTHON=$(PYTHON) scripts/install $(VENV) dev,cross-encoder
	@$(BIN)/python -m pytest -m 'soak and not browser' --timeout 1800 --durations=10

docs: $(ALL) ## The documentation as a site in build/site; a broken link fails
	@rm -rf build/docs && mkdir -p build/docs
	@tar cf - *.md LICENSE docs evals/*.md benchmarks/*.md tests/*.md | tar xf - -C build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
