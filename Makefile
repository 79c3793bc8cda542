# make run    set up and answer "how many clusters?" for scikit-learn's wine data
#             (make run DATA=my.csv for your own table, OPTIONS='--drop name' for options)
# make test   set up and run every test
# make docs   set up and build the site into build/site
#
# tasks.py does it; without make, call that: python tasks.py run, python tasks.py test.
# LOCK=no takes the newest versions of everything in place of those in locks/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=
OPTIONS ?=
LOCK ?= yes
TASKS := $(PYTHON) tasks.py $(if $(filter no,$(LOCK)),--no-lock)

.PHONY: run test test-gpu test-matrix mutation setup lint lock audit docs docs-pictures bench load judge choosers reproduce results metadata dist clean

run:
	@$(TASKS) run $(if $(DATA),"$(DATA)") $(OPTIONS)

test setup lint docs audit metadata clean:
	@$(TASKS) $@

# On a machine with a GPU, with CuPy and the other packages installed: the kernels themselves.
test-gpu:
	$(PYTHON) -m pytest -q tests/test_cuda.py tests/test_cuda_device.py tests/test_engines.py -k "cuda"

# KEEP=yes leaves the versions that are there, and adds what is missing.
lock:
	@$(TASKS) lock $(if $(filter yes,$(KEEP)),--keep)

# The wheel and the source archive, checked; RELEASE=yes insists on a date, a tag and a clean tree.
dist:
	@$(TASKS) dist $(if $(filter yes,$(RELEASE)),--release)

# The suite with the oldest versions that are supported and with the newest, on every Python named.
PYTHONS ?= $(PYTHON)
VERSIONS ?= oldest newest
test-matrix:
	@failed=; for python in $(PYTHONS); do \
	  $$python tasks.py matrix $(VERSIONS) || failed="$$failed $$python"; \
	done; \
	if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

# Small errors in the code, one at a time, that the tests should notice. mutmut 3.8 needs pytest < 9.1.
MUTATION := build/mutation-env
mutation:
	[ -x $(MUTATION)/bin/python ] || $(PYTHON) -m venv $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' mutmut 'pytest<9.1'
	$(MUTATION)/bin/python robustness/mutation.py

# Memory, threads and file handles under load: LOAD=3600 at night.
LOAD ?= 300
load: setup
	$(BIN)/python robustness/load.py $(LOAD)
	$(BIN)/python robustness/interrupt.py

docs-pictures: setup
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/screenshot.py

# Speed and memory against peers; BENCHMARK and REFERENCE name the 28 sets and their best inertia.
BENCHMARK ?= ../shared/benchmark
REFERENCE ?= ../shared/reference/best_known_inertia.csv
bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'wheel<0.45' 'setuptools<80'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation gap-stat
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/criteria.py
	$(BIN)/python benchmarks/silhouettes.py
	$(BIN)/python benchmarks/cosine.py
	$(BIN)/python benchmarks/dof.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/peers.py
	if [ -d "$(BENCHMARK)" ]; then $(BIN)/python benchmarks/best_known.py "$(BENCHMARK)" "$(REFERENCE)"; fi
	$(BIN)/python benchmarks/tables.py

# Results whose sources have changed since they were made, made again; goes on where it was stopped.
results: setup
	$(BIN)/python experiments/provenance.py run
	$(BIN)/python benchmarks/tables.py

# The judge's model, from nothing: about two hours on two cores, goes on where it was stopped.
judge: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'lightgbm==4.7.*'
	$(BIN)/python experiments/judge.py
	$(BIN)/python experiments/judge.py --check --sets 2000 --model build/judge/check.npz

# How many clusters, by other packages: their environment, and the study (some two hours, resumable).
CHOOSERS := build/choosers-env
choosers: setup
	[ -x $(CHOOSERS)/bin/python ] || $(PYTHON) -m venv $(CHOOSERS)
	$(CHOOSERS)/bin/python -m pip install --quiet 'wheel<0.45' 'setuptools<80' 'scipy>=1.17'
	$(CHOOSERS)/bin/python -m pip install --quiet --editable . compsil==0.1.4 yellowbrick==1.5
	$(CHOOSERS)/bin/python -m pip install --quiet --no-deps clustpy==0.0.3
	$(CHOOSERS)/bin/python -m pip install --quiet --no-build-isolation gap-stat==2.0.3
	$(BIN)/python benchmarks/choosers.py

# The paper's tables and figures; PROFILE=smoke for a version of two minutes that needs no data.
PROFILE ?= full
reproduce: setup
	$(BIN)/python experiments/reproduce.py --profile $(PROFILE)
