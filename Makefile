# make run    set up and answer "how many clusters?" for scikit-learn's wine data
#             (make run DATA=my.csv for your own table, OPTIONS='--drop name' for options)
# make test   set up and run every test
# make docs   set up and build the site into build/site
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=
OPTIONS ?=

.PHONY: run test test-matrix mutation setup lint audit docs docs-pictures bench load judge choosers reproduce results dist clean

run: $(VENV)/.run
ifeq ($(DATA),)
	@$(BIN)/edfkmeans demo --report report.html --force $(OPTIONS)
else
	@$(BIN)/edfkmeans select "$(DATA)" --report report.html --force $(OPTIONS)
endif

test: $(VENV)/.dev lint
	$(BIN)/pytest -n 2 --cov --cov-report=term:skip-covered

setup: $(VENV)/.dev

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Known vulnerabilities of what is installed. Without an answer from the service it fails and says so.
audit: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	@$(BIN)/pip-audit --skip-editable --progress-spinner off --timeout 20 > $(VENV)/audit.txt 2>&1; \
	code=$$?; cat $(VENV)/audit.txt; \
	if grep -qE 'ConnectionError|ServiceError|HTTPError|Max retries|timed out|SSLError' $(VENV)/audit.txt; then \
	  echo "NOT AUDITED: the vulnerability service could not be reached. Run it again when online."; \
	  exit 1; \
	fi; \
	missed=$$(grep -c 'could not be audited' $(VENV)/audit.txt); \
	if [ "$$missed" -gt 0 ]; then \
	  echo "NOT AUDITED: the vulnerability service knows nothing of $$missed packages (a mirror?):"; \
	  grep 'could not be audited' $(VENV)/audit.txt | cut -d' ' -f1 | paste -sd' ' | fold -sw 100; \
	  exit 1; \
	fi; \
	exit $$code

# The suite with the oldest versions that are supported and with the newest, on every Python named.
PYTHONS ?= $(PYTHON)
MATRIX := build/matrix
test-matrix:
	@failed=; for python in $(PYTHONS); do for versions in oldest newest; do \
	  tag=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; \
	  if [ $$versions = oldest ] && [ $$tag != 3.11 ] && [ $$tag != 3.12 ]; then \
	    echo "== Python $$tag, oldest: left out (numpy 1.26 and numba 0.60 end at Python 3.12)"; continue; \
	  fi; \
	  echo "== Python $$tag, $$versions versions"; \
	  folder=$(MATRIX)/$$tag-$$versions; \
	  [ -x $$folder/bin/python ] || $$python -m venv $$folder || exit 1; \
	  if [ $$versions = oldest ]; then limit="-c tests/oldest.txt"; else limit="--upgrade"; fi; \
	  $$folder/bin/python -m pip install --quiet --disable-pip-version-check $$limit --editable '.[dev]' \
	    && NUMBA_CACHE_DIR=$(CURDIR)/$$folder/numba $$folder/bin/python -m pytest -n 2 -p no:cacheprovider \
	      --ignore=tests/test_docs.py --ignore=tests/report \
	    || failed="$$failed $$tag-$$versions"; \
	done; done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

# Small errors in the code, one at a time, that the tests should notice. mutmut 3.8 needs pytest < 9.1.
MUTATION := build/mutation-env
mutation:
	[ -x $(MUTATION)/bin/python ] || $(PYTHON) -m venv $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' mutmut 'pytest<9.1'
	$(MUTATION)/bin/python robustness/mutation.py

# Memory, threads and file handles under load: LOAD=3600 at night.
LOAD ?= 300
load: $(VENV)/.dev
	$(BIN)/python robustness/load.py $(LOAD)
	$(BIN)/python robustness/interrupt.py

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

# Results whose sources have changed since they were made, made again; goes on where it was stopped.
results: $(VENV)/.dev
	$(BIN)/python experiments/provenance.py run
	$(BIN)/python benchmarks/tables.py

# The judge's model, from nothing: about an hour on two cores, goes on where it was stopped.
judge: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'lightgbm==4.7.*'
	$(BIN)/python experiments/judge.py --check

# How many clusters, by other packages: their environment, and the study (some two hours, resumable).
CHOOSERS := build/choosers-env
choosers: $(VENV)/.dev
	[ -x $(CHOOSERS)/bin/python ] || $(PYTHON) -m venv $(CHOOSERS)
	$(CHOOSERS)/bin/python -m pip install --quiet 'wheel<0.45' 'setuptools<80' 'scipy>=1.17'
	$(CHOOSERS)/bin/python -m pip install --quiet --editable . compsil==0.1.4 yellowbrick==1.5
	$(CHOOSERS)/bin/python -m pip install --quiet --no-deps clustpy==0.0.3
	$(CHOOSERS)/bin/python -m pip install --quiet --no-build-isolation gap-stat==2.0.3
	$(BIN)/python benchmarks/choosers.py

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
