# `make demo` and `make test` set up everything: a virtual environment in .venv, pinned by constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NPM := npm install --no-audit --no-fund --ignore-scripts
SOURCES := $(shell find src -type f -not -name '*.pyc')
# One more than there are processors: many tests wait for a server, a browser or a deadline.
PROCESSES := $(shell $(PYTHON) -c "import os; print(min(4, os.cpu_count() + 1))")
PARALLEL := --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder
TOGETHER := $(MAKE) --no-print-directory --jobs

# Without compiled modules each process that the tests start takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test fuzz prepared check lint types layers unit mutants coverage conformance docs bundle bench bench-answers bench-docs bench-extract bench-fidelity bench-languages bench-questions bench-replay bench-semantic clean

# With uv, which is faster, or with pip where uv cannot be installed or knows no registry.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25"
	@if $(BIN)/python -m pip install --quiet --constraint constraints.txt uv && \
		$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[dev]"; then :; else \
		$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"; fi
	touch $@

# Never fails the build: a failed installation is tried again next time, and its tests skip and say why.
$(VENV)/.system: tools/system_packages.sh | $(VENV)/.installed
	@if sh $<; then touch $@; fi

$(VENV)/.npm-%: tests/%/package.json tests/%/package-lock.json | $(VENV)/.installed
	@if $(NPM) --prefix tests/$*; then touch $@; fi

# Clients of the compatible APIs, in an environment without our pins: with uv, or with pip where uv knows no registry.
$(VENV)/.clients: tests/clients/requirements.txt | $(VENV)/.installed
	@$(PYTHON) -m venv $(VENV)/clients
	@if $(BIN)/uv pip install --quiet --python $(VENV)/clients/bin/python -r $< || $(VENV)/clients/bin/python -m pip install --quiet -r $<; then touch $@; fi

# The Cloud Function, installed as Google would: from its folder alone.
$(VENV)/.functions: firebase.json functions/requirements.txt pyproject.toml constraints.txt $(SOURCES) | $(VENV)/.installed
	@if $(BIN)/python tools/function_environment.py; then touch $@; fi

$(VENV)/.conformance: tests/conformance/package.json | $(VENV)/.installed
	npm install --prefix tests/conformance --no-audit --no-fund --ignore-scripts --loglevel=error
	touch $@

demo: $(VENV)/.installed
	$(BIN)/websearch-gateway demo

# The long form of tests of `make test`: strange replies of every upstream, and how the time of reading a text grows.
fuzz: $(VENV)/.installed
	FUZZ_EXAMPLES=3000 $(BIN)/pytest -q $(PARALLEL) tests/test_strange_replies.py tests/base/safety/test_linear.py

# Changes 60 places of one package, one at a time: at most one in five may pass its tests. Takes from ten minutes on.
mutants: $(VENV)/.installed
	@test -n "$(PACKAGE)" || { echo "Say which package: make mutants PACKAGE=evidence"; exit 2; }
	$(BIN)/python -m tools.mutants $(PACKAGE)

# The packages of the tests are installed while the types are checked; the conformance suite mostly waits for its server.
test: $(VENV)/.installed
	$(TOGETHER) lint types layers prepared
	$(TOGETHER) unit conformance

prepared: $(VENV)/.system $(VENV)/.npm-node $(VENV)/.npm-functions $(VENV)/.functions $(VENV)/.clients $(VENV)/.conformance

# For use while you work: like `test`, but only with the tests of the code that changed since BASE.
BASE ?= main
check: $(VENV)/.installed
	$(TOGETHER) lint types layers
	$(BIN)/pytest -q $(PARALLEL) $$($(BIN)/python tools/changed_tests.py $(BASE))

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

layers: $(VENV)/.installed
	$(BIN)/lint-imports

unit: prepared
	$(BIN)/pytest $(PARALLEL)

# The same tests, at some 1.6 times the CPU time.
coverage: prepared
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest $(PARALLEL)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

conformance: $(VENV)/.installed $(VENV)/.conformance
	$(BIN)/python tests/conformance/run.py

# Writes the parts of the documents that are derived from the code, the pictures, and the site with llms.txt.
docs: $(VENV)/.installed
	$(BIN)/python tools/settings_table.py > docs/settings.md
	$(BIN)/python tools/price_table.py > docs/prices.md
	$(BIN)/python tools/cli_table.py > docs/cli.md
	$(BIN)/python tools/tool_tables.py
	$(BIN)/python tools/layer_picture.py --write
	$(BIN)/python tools/demo_picture.py
	$(BIN)/websearch-gateway sandbox -- $(BIN)/python tools/page_pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# For Claude Desktop and other clients that install an .mcpb file.
bundle: $(VENV)/.installed
	rm -rf build/bundle && $(BIN)/python -m tools.bundle build/bundle
	npx --yes @anthropic-ai/mcpb@2.1.2 pack build/bundle build/websearch-gateway.mcpb

bench: $(VENV)/.installed
	$(BIN)/python -m bench

bench-extract: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which pages: make bench-extract DATA=FOLDER"; exit 2; }
	$(BIN)/python -m bench.extract $(DATA)

bench-docs: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which sites: make bench-docs DATA=FOLDER [QUERIES=FILE] [HEAVY=1]"; exit 2; }
	$(BIN)/python -m bench.docs $(DATA) $(QUERIES) $(if $(HEAVY),--heavy)

bench-semantic: $(VENV)/.installed
	$(BIN)/python -m bench.semantic $(DATA)

bench-fidelity: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which pages: make bench-fidelity DATA='FILE ...'"; exit 2; }
	$(BIN)/python -m bench.fidelity $(DATA)

bench-replay: $(VENV)/.installed
	$(BIN)/python -m bench.replay $(DATA)

bench-answers: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which questions: make bench-answers DATA=FILE"; exit 2; }
	$(BIN)/python -m bench.answers $(DATA)

bench-languages: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which questions: make bench-languages DATA=FILE"; exit 2; }
	$(BIN)/python -m bench.languages $(DATA)

bench-questions: $(VENV)/.installed
	@test -n "$(DATA)" || { echo "Say which questions: make bench-questions DATA=FILE"; exit 2; }
	$(BIN)/python -m bench.questions $(DATA)

clean:
	rm -rf $(VENV) tests/*/node_modules functions/venv functions/package .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
