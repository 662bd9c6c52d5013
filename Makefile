# `make demo` and `make test` are all a newcomer needs; both work on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.installed
ALL    := $(VENV)/.installed-dev
TOOLS  := build/tools/.installed
MODEL  := build/models/smollm2-135m-instruct.gguf

# Containers often set it; each process of a test would compile anew all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo e2e-smoke db-up db-down db-psql db-reset models test test-processes test-browser test-node test-servers node lint types check migrate seed serve eval real redteam bench bench-peers soak clients sbom audit lock docs clean

help: ## List the commands
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(RUN) ## What running needs, in .venv; EXTRAS=ocr,anthropic adds extras
	@$(if $(EXTRAS),PYTHON=$(PYTHON) scripts/install $(VENV) $(EXTRAS))

$(RUN): pyproject.toml constraints.txt scripts/install
	@PYTHON=$(PYTHON) scripts/install $(VENV)
	@touch $@

$(ALL): pyproject.toml constraints.txt scripts/install
	@PYTHON=$(PYTHON) scripts/install $(VENV) dev
	@touch $@ $(RUN)

demo: $(RUN) ## From a file to a cited, streamed answer and a refusal: no key, no Docker
	@$(BIN)/helix demo

$(MODEL):
	@$(PYTHON) -m evals.real.models $(basename $(notdir $@))

e2e-smoke: demo ## The same as demo, by the name of the specification

db-up: ## Postgres with pgvector by Docker Compose, on localhost:5432
	@docker compose up -d --wait postgres

db-down: ## Stop it, and keep its data
	@docker compose down

db-psql: ## A prompt of psql in it
	@docker compose exec postgres psql -U helix helix

db-reset: ## The same, empty: deletes all of its data, then applies the schema
	@docker compose down --volumes && $(MAKE) db-up migrate

models: ## The real models of tests and `make real`, 590 MB in build/models
	@$(PYTHON) -m evals.real.models

# Six processes on two cores: some wait for Postgres or for a clock.
test: $(ALL) $(MODEL) ## The tests, but for those that the next four commands run
	@$(BIN)/python -m pytest -m 'not soak and not processes and not node and not clients and not servers' --ignore tests/browser -n 6 --dist loadfile

# Files with a mark: to import the 600 others takes each process ten seconds.
files_with_mark = $(sort $(shell grep -rl --include 'test_*.py' 'mark\.$(1)\b' tests))

test-processes: $(ALL) $(MODEL) ## Servers, workers, models and readers as processes of their own, and kills
	@$(BIN)/python -m pytest $(call files_with_mark,processes) -m 'processes and not soak' -n 4 --dist loadfile

test-browser: $(ALL) $(MODEL) ## The page in headless Chromium (Debian: apt install chromium-headless-shell); DELAY=1.5: over a slow server
	@DELAY=$(DELAY) $(BIN)/python -m pytest tests/browser -m browser -n 2 --dist loadfile

PACKAGES = edge tests/protocols/node tests/servers/node tests/serving/accounts/node
node: $(PACKAGES:=/node_modules/.package-lock.json) ## What tests take from npm

%/node_modules/.package-lock.json: %/package-lock.json
	@npm ci --prefix $* --no-audit --no-fund

test-node: $(ALL) node ## What wants packages of npm: the worker of edge/ in Cloudflare's runtime
	@$(BIN)/python -m pytest $(call files_with_mark,node) -m 'node and not soak'

test-servers: $(ALL) tests/servers/node/node_modules/.package-lock.json ## Sources against servers (Debian: apt install dovecot-imapd openssh-server npm)
	@$(BIN)/python -m pytest tests/servers -m servers

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
	@$(BIN)/python -m evals.agent

real: $(ALL) models ## A real model asked in both forms beside the offline answerer; DATA=DIR adds the public sets
	@$(BIN)/python -m evals.real $(if $(DATA),--data $(DATA)) $(ARGS)

redteam: $(ALL) ## Attack a service with the offline provider; fails where a probe gets through
	@$(BIN)/python -m evals.redteam

bench: $(ALL) ## Ratios against named floors, measured in one run
	@$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

soak: $(ALL) ## The full counts: kills, fuzz, load; and a model in the process (PyTorch)
	@PYTHON=$(PYTHON) scripts/install $(VENV) dev,cross-encoder
	@$(BIN)/python -m pytest -m 'soak and not browser' --timeout 1800 --durations=10

clients: $(ALL) models $(TOOLS) tests/clients/node/node_modules/.package-lock.json ## Other people's clients over a server: openai, llm, LangChain, MCP inspector, Open WebUI (3 GB)
	@test -x build/clients/bin/python || $(PYTHON) -m venv build/clients
	@build/tools/bin/uv pip install -q --python build/clients -r tests/clients/requirements.txt
	@test -x build/clients-webui/bin/python || $(PYTHON) -m venv build/clients-webui
	@build/tools/bin/uv pip install -q --python build/clients-webui -r tests/clients/open_webui.txt
	@$(BIN)/python -m pytest tests/clients -m clients --durations=10

bench-peers: $(ALL) ## Helix beside LlamaIndex, LangChain, Haystack and LanceDB, in an environment of their own
	@test -x build/peers/bin/python || $(PYTHON) -m venv build/peers
	@build/peers/bin/pip install -q -r benchmarks/peers/requirements.txt
	@$(BIN)/python -m benchmarks.peers --python build/peers/bin/python $(if $(DATA),--data $(DATA))

sbom: $(RUN) $(TOOLS) ## What .venv is made of, as a CycloneDX bill of materials in build/sbom.json
	@build/tools/bin/cyclonedx-py environment $(VENV) --output-format JSON -o build/sbom.json

audit: $(TOOLS) ## Known vulnerabilities of the versions in constraints.txt (asks pypi.org)
	@build/tools/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

IMAGE = s3 feeds imap sftp webdav oidc
lock: $(TOOLS) ## What the image installs, with hashes: requirements.lock from constraints.txt
	@build/tools/bin/uv pip compile pyproject.toml $(IMAGE:%=--extra %) -c constraints.txt --python-version 3.12 \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet -o requirements.lock

$(TOOLS): scripts/tools.txt
	@$(PYTHON) -m venv build/tools && build/tools/bin/pip install -q -r scripts/tools.txt
	@touch $@

docs: $(ALL) ## The documentation as a site in build/site; a broken link fails
	@rm -rf build/docs && mkdir -p build/docs
	@tar cf - *.md LICENSE docs evals/*.md benchmarks/*.md tests/*.md edge/README.md examples/README.md | tar xf - -C build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
