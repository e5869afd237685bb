# make demo   sets up .venv and runs the main job on synthetic ratings
# make test   sets up .venv and runs lint, types and all tests
# make bench  prints the growth and speed tables
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONWARNINGS ?=

.PHONY: demo test lint bench clean
demo: $(VENV)/ready
	$(BIN)/geco demo --output geco-demo

test: lint
	$(BIN)/pytest

lint: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/python benchmarks/bench.py

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist geco-demo
