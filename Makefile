# `make demo` and `make test` do all their own set-up: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NPM := npm install --no-audit --no-fund --ignore-scripts
SOURCES := $(shell find src -type f -not -name '*.pyc')

.PHONY: demo test lint types floors unit conformance bench bench-extract bench-questions bench-semantic clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

# Never fails a build: what could not be installed is tried again next time, and its tests say why they skip.
$(VENV)/.system: tools/system_packages.sh | $(VENV)/.installed
	@if sh $<; then touch $@; fi

$(VENV)/.npm: $(wildcard tests/node/package*.json tests/functions/package*.json) | $(VENV)/.installed
	@if $(NPM) --prefix tests/node && $(NPM) --prefix tests/functions; then touch $@; fi

# The Cloud Function, installed as Google would: from its folder alone.
$(VENV)/.functions: firebase.json functions/requirements.txt pyproject.toml constraints.txt $(SOURCES) | $(VENV)/.installed
	@if $(BIN)/python tools/function_environment.py; then touch $@; fi

$(VENV)/.conformance: tests/conformance/package.json | $(VENV)/.installed
	npm install --prefix tests/conformance --no-audit --no-fund --ignore-scripts --loglevel=error
	touch $@

demo: $(VENV)/.installed
	$(BIN)/websearch-gateway demo

test: lint types floors unit conformance

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

floors: $(VENV)/.installed
	$(BIN)/lint-imports

unit: $(VENV)/.installed $(VENV)/.system $(VENV)/.npm $(VENV)/.functions
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

conformance: $(VENV)/.installed $(VENV)/.conformance
	$(BIN)/python tests/conformance/run.py

bench: $(VENV)/.installed
	$(BIN)/python -m bench

bench-extract: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which pages: make bench-extract DATA=FOLDER"; exit 2; }
	$(BIN)/python -m bench.extract $(DATA)

bench-semantic: $(VENV)/.installed
	$(BIN)/python -m bench.semantic $(DATA)

bench-questions: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which questions: make bench-questions DATA=FILE"; exit 2; }
	$(BIN)/python -m bench.questions $(DATA)

clean:
	rm -rf $(VENV) tests/*/node_modules functions/venv functions/package .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
