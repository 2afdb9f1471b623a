# The front door. `make help` lists what there is.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help run test check bench demo setup messages lock vendor
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  PORT, DATA_DIR, DATABASE_URL and REDIS_URL are read from the environment."

run: .python ## the site, a worker and Valkey, on http://localhost:8000
	@$(PYTHON) scripts/setup.py site
	@exec $(BIN)/python manage.py serve --with-parent

setup: .python ## .venv and everything pinned, tests' tools included
	@$(PYTHON) scripts/setup.py dev

test: setup ## every test (browser, chaos and training included)
	@$(BIN)/python -m pytest

check: setup ## ruff, mypy, import contract, courses, translations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python manage.py courses check
	@$(BIN)/python manage.py translations check
	@$(BIN)/python manage.py makemigrations --check --dry-run

demo: .python ## a cohort of thirty made-up learners, to see the classroom at work (REMOVE=1 takes it away)
	@$(PYTHON) scripts/setup.py site
	@$(BIN)/python manage.py demo $(if $(REMOVE),--remove)

bench: setup ## the figures of the README, measured here
	@$(BIN)/python -m tests.bench

messages: setup ## collects interface strings into locale/
	@$(BIN)/python manage.py translations extract

lock: ## the hashed locks, from pyproject.toml (needs uv)
	@sh scripts/lock

vendor: ## the vendored front end, from its package lock (needs npm)
	@sh scripts/vendor

.PHONY: .python
.python:
	@$(PYTHON) -c "print(1)" 2>/dev/null | grep -q 1 || { echo "Chainrule needs Python 3.11 or newer, and '$(PYTHON)' is not one. Install it, or name another: make run PYTHON=python3.12"; exit 1; }
