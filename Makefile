# make run    set up and answer "how many clusters?" for scikit-learn's wine data
#             (make run DATA=my.csv for your own table)
# make test   set up and run every test
# make docs   set up and build the site into build/site
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=

.PHONY: run test setup lint docs docs-pictures bench reproduce dist clean

run: $(VENV)/.run
ifeq ($(DATA),)
	@$(BIN)/edfkmeans demo --report report.html --force
else
	@$(BIN)/edfkmeans select "$(DATA)" --report report.html --force
endif

test: $(VENV)/.dev lint
	$(BIN)/pytest -n 2 --cov --cov-report=term:skip-covered

setup: $(VENV)/.dev

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

docs-pictures: $(VENV)/.dev
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/screenshot.py

# Speed and memory against peers; BENCHMARK and REFERENCE name the 28 sets and their best inertia.
BENCHMARK ?= ../shared/benchmark
REFERENCE ?= ../shared/reference/best_known_inertia.csv
bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'wheel<0.45' 'setuptools<80'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation gap-stat
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/criteria.py
	$(BIN)/python benchmarks/dof.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/peers.py
	if [ -d "$(BENCHMARK)" ]; then $(BIN)/python benchmarks/best_known.py "$(BENCHMARK)" "$(REFERENCE)"; fi
	$(BIN)/python benchmarks/tables.py

# The paper's tables and figures; PROFILE=smoke for a version of two minutes that needs no data.
PROFILE ?= full
reproduce: $(VENV)/.dev
	$(BIN)/python experiments/reproduce.py --profile $(PROFILE)

dist: $(VENV)/.dev
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) dist build

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "edfkmeans needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: pyproject.toml | $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@
