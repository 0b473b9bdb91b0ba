# On a fresh machine with Python 3.11+ and make, every target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUTPUT ?= demo-output

.DEFAULT_GOAL := help
.PHONY: help demo test campaign lint bench clean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("microagg needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot]'
	@touch $@

# pycanon, an oracle of the tests, pins exact versions of what it needs and runs with newer ones: taken without them.
$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'pycanon>=1.3,<2'
	@touch $@ $(VENV)/.run

$(VENV)/.lint: pyproject.toml $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint]'
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

demo: $(VENV)/.run  ## set up, then release, judge and compare a generated survey; results in demo-output/
	$(BIN)/microagg demo --output $(OUTPUT) --overwrite

test: $(VENV)/.test  ## set up and run the whole test suite
	$(BIN)/python -m pytest -n 2
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -m kernel --no-header tests/partition tests/contract

campaign: $(VENV)/.test  ## run the long hostile tests whole; takes hours
	cd tests && ../$(BIN)/python -m campaigns.campaign

lint: $(VENV)/.lint  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench  ## run the benchmarks and print their ratios
	$(BIN)/python benchmarks/mdav.py
	$(BIN)/python benchmarks/first_release.py
	$(BIN)/python benchmarks/partitions.py
	$(BIN)/python benchmarks/near_optimal.py
	$(BIN)/python benchmarks/cross_moment.py
	$(BIN)/python benchmarks/linkage.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/differential_privacy.py
	$(BIN)/python benchmarks/sweep.py

clean:  ## remove what these commands made
	rm -rf $(VENV) demo-output build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
