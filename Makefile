# On a fresh machine with Python 3.11+ and make, every target sets up what it needs. Which packages, and which versions of
# them, is said in pyproject.toml alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
MINIMAL := .venv-minimal
OUTPUT ?= demo-output
# More options for pytest, e.g. make test PYTEST_OPTIONS='-x --complete'
PYTEST_OPTIONS ?=
# Old versions are deprecated by newer ones of what they use: of that alone, the oldest leg makes no error.
AGED := -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning
INSTALL := -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo studio studio-pictures test test-spark test-studio test-oldest test-minimal wheel test-wheel coverage campaign lint \
	docs hooks bench clean environment

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(VENV)/bin/python $(OLDEST)/bin/python $(MINIMAL)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("microagg needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(@:/bin/python=)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python $(INSTALL) --editable '.[plot]'
	@touch $@

$(VENV)/.studio: pyproject.toml | $(VENV)/.run
	$(BIN)/python $(INSTALL) --editable '.[studio]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python $(INSTALL) --editable '.[test]'
	$(BIN)/python tools/dependency_group.py oracle | $(BIN)/python $(INSTALL) --no-deps --requirement /dev/stdin
	tools/machine.sh
	@touch $@ $(VENV)/.run

$(VENV)/.lint: pyproject.toml $(VENV)/.test
	$(BIN)/python $(INSTALL) --editable '.[lint]'
	@touch $@

$(VENV)/.coverage: pyproject.toml $(VENV)/.test
	$(BIN)/python $(INSTALL) --editable '.[coverage]'
	@touch $@

$(VENV)/.package: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python tools/dependency_group.py package | $(BIN)/python $(INSTALL) --requirement /dev/stdin
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python $(INSTALL) --editable '.[docs]'
	@touch $@

$(VENV)/.hooks: pyproject.toml $(VENV)/.lint
	$(BIN)/python tools/dependency_group.py hooks | $(BIN)/python $(INSTALL) --requirement /dev/stdin
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.test
	$(BIN)/python $(INSTALL) --editable '.[bench]'
	@touch $@

# Made anew whenever pyproject.toml changed: what is installed already would be kept, although lower versions will do.
$(OLDEST)/.test: pyproject.toml | $(OLDEST)/bin/python
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tools/dependency_group.py oldest | $(OLDEST)/bin/python $(INSTALL) --requirement /dev/stdin
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[test]'
	$(OLDEST)/bin/python tools/dependency_group.py oracle | $(OLDEST)/bin/python $(INSTALL) --no-deps --requirement /dev/stdin
	@touch $@

$(MINIMAL)/.test: pyproject.toml | $(MINIMAL)/bin/python
	$(MINIMAL)/bin/python $(INSTALL) --editable '.[test-minimal]'
	@touch $@

environment: $(VENV)/.lint

demo: $(VENV)/.run  ## set up, then release, judge and compare a generated survey; results in demo-output/
	$(BIN)/microagg demo --output $(OUTPUT) --overwrite

$(OUTPUT)/survey.csv: | $(VENV)/.run
	$(BIN)/microagg demo --output $(OUTPUT) --overwrite

studio: $(VENV)/.studio $(OUTPUT)/survey.csv  ## the whole way in a browser, on the demo's survey
	$(BIN)/microagg studio $(OUTPUT)/survey.csv --recipe $(OUTPUT)/recipe.toml

test: $(VENV)/.test  ## set up and run the whole test suite
	$(BIN)/python -m pytest -n 2 $(PYTEST_OPTIONS)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 $(PYTEST_OPTIONS) -m kernel --no-header tests/partition tests/contract

test-spark: $(VENV)/.test  ## the tests of the Spark engine with a cluster whose workers are killed; fails without Java
	$(BIN)/python -m pytest --complete --cluster $(PYTEST_OPTIONS) tests/engines/test_spark.py tests/examples

test-studio: $(VENV)/.test  ## the tests of the studio in a browser; fails where no browser can be had
	$(BIN)/python -m pytest --complete $(PYTEST_OPTIONS) tests/studio

studio-pictures: $(VENV)/.test  ## write the pictures of docs/studio.md anew, as the tests see the screens
	MICROAGG_STUDIO_PICTURES=docs/pictures/studio $(BIN)/python -m pytest --complete tests/studio/test_browser.py -k mouse

test-oldest: $(OLDEST)/.test  ## the suite with the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(abspath $(OLDEST))/numba $(OLDEST)/bin/python -m pytest -n 2 $(AGED) $(PYTEST_OPTIONS)

test-minimal: $(MINIMAL)/.test  ## the suite without any extra: what needs one is skipped, with its name
	NUMBA_CACHE_DIR=$(abspath $(MINIMAL))/numba $(MINIMAL)/bin/python -m pytest -n 2 -rs $(PYTEST_OPTIONS)

wheel: $(VENV)/.package  ## build wheel and source distribution into dist/, and look at their metadata
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

test-wheel: wheel  ## install the wheel into an empty environment and run the demonstration from there
	tools/wheel.sh $(BIN)/python

coverage: $(VENV)/.coverage  ## which lines of src the tests run; CONTRIBUTING.md has the figure
	$(BIN)/python -m pytest -n 2 $(PYTEST_OPTIONS) --cov --cov-report= --ignore tests/campaigns
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 $(PYTEST_OPTIONS) --cov --cov-append --cov-report= -m kernel --no-header \
		tests/partition tests/contract
	$(BIN)/python -m coverage report

campaign: $(VENV)/.test  ## run the long hostile tests whole; takes hours
	cd tests && ../$(BIN)/python -m campaigns.campaign

lint: $(VENV)/.lint  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs  ## build the site into site/, to be read from site/index.html; a warning fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

hooks: $(VENV)/.hooks  ## look for style, formatting and types before each commit of this clone
	$(BIN)/pre-commit install

bench: $(VENV)/.bench  ## run the benchmarks and print their ratios
	$(BIN)/python benchmarks/mdav.py
	$(BIN)/python benchmarks/first_release.py
	$(BIN)/python benchmarks/partitions.py
	$(BIN)/python benchmarks/near_optimal.py
	$(BIN)/python benchmarks/mixed.py
	$(BIN)/python benchmarks/diversity.py
	$(BIN)/python benchmarks/cross_moment.py
	$(BIN)/python benchmarks/linkage.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/risk.py
	$(BIN)/python benchmarks/units.py
	$(BIN)/python benchmarks/differential_privacy.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/large_tables.py
	$(BIN)/python benchmarks/studio.py

clean:  ## remove what these commands made
	rm -rf $(VENV) $(OLDEST) $(MINIMAL) .coverage demo-output site build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
