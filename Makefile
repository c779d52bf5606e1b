# `make help` lists what can be done. Everything runs in a virtual environment of its own, which the first target that
# needs it makes; it is brought up to date when one of the files that say what it holds has changed.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONSTRAINTS := constraints.txt
INSTALLED := $(VENV)/installed

.DEFAULT_GOAL := help
.PHONY: help install demo test lint check check-minimum fix

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r target text; do \
		printf 'make %-14s %s\n' "$$target" "$$text"; done

install: $(INSTALLED) ## Make the virtual environment and install the package with its pinned dependencies

demo: $(INSTALLED) ## Train a small model on made-up sentences, translate with it and draw what it read
	@echo "make demo: running 'rnnsearch demo'"
	$(BIN)/rnnsearch demo

# No test may need the network.
test: $(INSTALLED) ## Run all tests
	@echo "make test: running all tests with $(BIN)/pytest"
	HF_HUB_OFFLINE=1 $(BIN)/pytest

lint: $(INSTALLED) ## Check style and types
	@echo "make lint: checking style and types"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mlinter --no-progress modeling tokenizer

check: lint test ## Style, types and all tests

check-minimum: ## Run all tests on the lowest versions that setup.cfg allows, with Python 3.11
	@$(MAKE) --no-print-directory test VENV=$(VENV)-minimum CONSTRAINTS=constraints-minimum.txt

fix: $(INSTALLED) ## Repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# PyTorch first and by itself: pip then takes the pinned build that its index offers instead of looking for a newer one.
$(INSTALLED): setup.cfg pyproject.toml $(CONSTRAINTS) src/rnnsearch/version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "rnnsearch needs Python 3.11 or later; give one with 'make PYTHON=...'" >&2; exit 1; }
	@echo "make install: installing into $(VENV) the versions of $(CONSTRAINTS); the first time takes some minutes"
	@$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) torch
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable '.[dev]'
	@touch $@
	@echo "make install: installed $$($(BIN)/rnnsearch --version) in $(VENV)"
