# Two commands matter on a fresh machine: `make demo` and `make test`. Both set up what they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# A process that may not keep what it compiled starts in four seconds instead of one; tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 26

# uv installs in seconds what takes pip a minute; where uv can't reach the index that pip is set up for, pip does it.
INSTALL = ($(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1) 2>/dev/null \
  || $(BIN)/python -m pip install --quiet --require-hashes -r $(1))

$(VENV)/.installed: requirements/uv.txt requirements/fluxx.txt pyproject.toml
	@echo "Installing Fluxx and what it stands on into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	@$(call INSTALL,requirements/fluxx.txt)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed requirements/dev.txt
	@echo "Installing the development tools into $(VENV) …"
	@$(call INSTALL,requirements/dev.txt)
	@touch $@

.PHONY: install
install: $(VENV)/.installed ## Leave a working .venv/bin/fluxx

.PHONY: demo
demo: install ## The main job, embedded, on real documents (FILES="a.pdf b.pdf" for your own)
	@$(BIN)/fluxx demo $(FILES)

.PHONY: test
test: $(VENV)/.developing ## All tests (ARGS="-k name" for some)
	@$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile $(ARGS)

.PHONY: simulate
simulate: $(VENV)/.developing ## Play made-up days of the whole service (SEEDS="1-300"; of a single one all is shown)
	@PYTHONPATH=tests $(BIN)/python -m simulation $(or $(SEEDS),1-300)

.PHONY: test-sqlserver
test-sqlserver: $(VENV)/.developing ## The tests that need a SQL Server (TEST_SQLSERVER_URL; they empty that database)
	@test -n "$$TEST_SQLSERVER_URL" || { echo "set TEST_SQLSERVER_URL to the URL of a SQL Server database that may be emptied"; exit 1; }
	@$(BIN)/python -m pytest -m sqlserver $(ARGS)

.PHONY: check
check: $(VENV)/.developing ## Format, lint, types, imports, generated docs
	@$(BIN)/ruff format --check --quiet . || { echo "run 'make fix'"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/sqlfluff lint --quiet --dialect tsql src/fluxx/migrations/sqlserver
	@$(BIN)/sqlfluff lint --quiet --dialect postgres src/fluxx/migrations/postgresql
	@$(BIN)/sqlfluff lint --quiet --dialect sqlite src/fluxx/migrations/sqlite

.PHONY: fix
fix: $(VENV)/.developing ## Format, and mend what can be mended without thinking
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

LOCK = $(BIN)/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header
.PHONY: lock
lock: $(VENV)/.installed ## Pin the requirements anew
	@$(LOCK) pyproject.toml --all-extras --group build -o requirements/fluxx.txt
	@$(LOCK) --group uv -o requirements/uv.txt
	@$(LOCK) --group dev -c requirements/fluxx.txt -o requirements/dev.txt

.PHONY: bench
bench: bench-throughput bench-inflight bench-growth bench-api bench-large-result bench-startup bench-scaling ## All measures that need nothing but this machine, each beside its floor

.PHONY: bench-throughput
bench-throughput: $(VENV)/.developing ## CPU per job and jobs per second, beside the same work without a service
	@$(BIN)/python bench/throughput.py $(ARGS)

.PHONY: bench-inflight
bench-inflight: $(VENV)/.developing ## 20,000 and 100,000 jobs in flight, and as many as this core should carry: polls made, lateness, CPU, memory
	@$(BIN)/python bench/inflight.py $(ARGS)

.PHONY: bench-api
bench-api: $(VENV)/.developing ## The job API under load, beside a bare FastAPI endpoint
	@$(BIN)/python bench/api.py $(ARGS)

.PHONY: bench-large-result
bench-large-result: $(VENV)/.developing ## A result of 1 GB: memory, and speed beside a plain copy
	@$(BIN)/python bench/large_result.py $(ARGS)

.PHONY: bench-startup
bench-startup: $(VENV)/.developing ## `fluxx --help` beside a bare import, and `fluxx up` until it is ready
	@$(BIN)/python bench/startup.py $(ARGS)

.PHONY: bench-scaling
bench-scaling: $(VENV)/.developing ## Two workers on PostgreSQL beside one
	@$(BIN)/python bench/scaling.py $(ARGS)

.PHONY: bench-workers
bench-workers: $(VENV)/.developing ## 2,000 jobs on three workers, one of them killed or frozen every second
	@$(BIN)/python bench/workers.py $(ARGS)

.PHONY: bench-kills
bench-kills: $(VENV)/.developing ## kill -9 fifty times during 3,000 jobs, on each database
	@$(BIN)/python bench/kills.py $(ARGS)

.PHONY: bench-growth
bench-growth: $(VENV)/.developing ## Every call on a million finished jobs beside a nearly empty database, with the plans
	@$(BIN)/python bench/growth.py $(ARGS)

.PHONY: bench-http
bench-http: $(VENV)/.developing ## CPU per HTTP exchange: our client beside bare aiohttp and the floor
	@$(BIN)/python bench/http_client.py $(ARGS)

.PHONY: bench-azure
bench-azure: $(VENV)/.developing ## Messages through Service Bus: our adapter beside Microsoft's bare client
	@$(BIN)/python bench/service_bus.py

.PHONY: bench-dashboard
bench-dashboard: $(VENV)/.developing ## The pages on a million jobs and 200 watchers, beside an empty database and one
	@$(BIN)/python bench/dashboard.py $(ARGS)

.PHONY: screenshots
screenshots: $(VENV)/.developing ## The pictures in docs/images (ARGS=folder for all pages, to be looked at)
	@PYTHONPATH=tests $(BIN)/python -m support.screenshots $(ARGS)

.PHONY: azure-local
azure-local: $(VENV)/.developing ## Service Bus, Blob Storage, Key Vault and App Configuration on this machine
	@PYTHONPATH=tests $(BIN)/python -m servers.azure_local

.PHONY: clean
clean: ## Remove what the targets made
	@rm -rf $(VENV) tests/servers/azurite/node_modules .fluxx .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
