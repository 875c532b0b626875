# `make demo` and `make test` do all their own set-up: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types floors unit bench bench-extract clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

# Never fails a build: what could not be installed is tried again next time, and its tests say why they skip.
$(VENV)/.system: tools/system_packages.sh | $(VENV)/.installed
	@if sh $<; then touch $@; fi

$(VENV)/.npm: tests/node/package.json tests/node/package-lock.json | $(VENV)/.installed
	@if npm install --prefix tests/node --no-audit --no-fund --ignore-scripts; then touch $@; fi

demo: $(VENV)/.installed
	$(BIN)/websearch-gateway demo

test: lint types floors unit

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

floors: $(VENV)/.installed
	$(BIN)/lint-imports

unit: $(VENV)/.installed $(VENV)/.system $(VENV)/.npm
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: $(VENV)/.installed
	$(BIN)/python -m bench

bench-extract: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which pages: make bench-extract DATA=FOLDER"; exit 2; }
	$(BIN)/python -m bench.extract $(DATA)

clean:
	rm -rf $(VENV) tests/node/node_modules .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
