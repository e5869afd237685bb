# make demo   sets up .venv and runs the main job on synthetic ratings
# make test   sets up .venv and runs lint, types and all tests
# make bench  prints tables of speed, growth, memory and fits; ARGS=--large adds 10⁸ cells
# make bench-peers  installs the other packages in .venv-peers and prints the table beside pygeco
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONWARNINGS ?=

.PHONY: demo test lint bench bench-peers clean
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
	$(BIN)/python benchmarks/bench.py $(ARGS)

bench-peers: .venv-peers/ready
	.venv-peers/bin/python benchmarks/peers.py

# A peer that cannot be built here is left out of the table, which says so.
.venv-peers/ready: benchmarks/peers.txt pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install -q --disable-pip-version-check -e .
	for peer in $$(grep -v '^#' benchmarks/peers.txt); do \
		.venv-peers/bin/python -m pip install -q --disable-pip-version-check "$$peer" || true; \
	done
	.venv-peers/bin/python -m pip install -q --disable-pip-version-check \
		--no-build-isolation --no-deps cmfrec || true
	touch $@

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .venv-peers build dist geco-demo
