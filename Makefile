# make demo   sets up .venv and runs the main job on synthetic ratings
# make test   sets up .venv and runs lint, types and all tests
# make check  all tests, without lint and types
# make quick  lint, types and a minute of tests, for every save
# make soak   the tests of trust in their long form, at most an hour; prints what was tried
# make blocks the tests of passes, with blocks of a few numbers; some minutes
# make supply licenses, vulnerabilities, reproducible builds, a bare install; part of make soak
# make docs   builds the documentation into build/site
# make gallery  draws the pictures of docs/gallery.md anew
# make bench  prints tables of speed, growth, memory and fits; ARGS=--large adds 10⁸ cells
# make coverage  runs the tests and says which lines and branches they reach, kernels apart
# make mutants  changes the code in thousands of ways, counts what the tests let pass; an hour
# make bench-peers  installs the other packages in .venv-peers and prints the table beside pygeco
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv asks the index for all packages at once, pip for one after another; where uv cannot be had
# or finds no index, pip does it.
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile
install = $(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt -e $(1) || \
	$(PIP) -c constraints.txt -e $(1)
export PYTHONWARNINGS ?=
# The tests start many processes, each of which would compile the package's files anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check quick kernels blocks soak supply lint docs gallery bench bench-peers clean
demo: $(VENV)/ready
	$(BIN)/geco demo --output geco-demo

# Beside each other, and more processes of tests than cores: some wait for other processes.
test:
	$(MAKE) -j 2 lint check

check: kernels
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

# Of each room the tests that take no cluster, no browser, no other process and no large data.
QUICK := tests/algorithm tests/arrays tests/bayes tests/losses tests/objectives tests/io/test_tables.py \
	tests/io/test_model_file.py tests/estimators/test_completion.py

quick: lint
	$(BIN)/pytest -n 2 --dist loadfile $(QUICK)

kernels: $(VENV)/ready
	PYTHONPATH=src $(BIN)/python tests/kernels.py

# Tests elsewhere that have a long form too.
LONG := tests/algorithm/test_paper.py tests/engines/dask/test_engine.py tests/estimators/test_robust_ratings.py \
	tests/estimators/test_sklearn.py tests/serve/test_browser.py

soak: $(VENV)/soak
	PYGECO_SOAK=1 $(BIN)/pytest tests/trust $(LONG) -n 2 $(ARGS)

# Rooms whose work is cut into blocks.
CUT := tests/engines/cpu tests/engines/test_protocol.py tests/arrays tests/objectives tests/models tests/bayes \
	tests/clicks tests/estimators/test_choosing.py tests/io/test_delimited.py tests/io/test_ratings.py \
	tests/io/test_matrix_market.py

blocks: $(VENV)/ready
	PYTHONPATH=tests $(BIN)/pytest -p tiny_blocks $(CUT) -n 2

supply: $(VENV)/soak
	PYGECO_SOAK=1 $(BIN)/pytest tests/trust/test_supply.py

# Where these tools cannot be had, the tests that need them say so and are skipped.
$(VENV)/soak: $(VENV)/ready
	-$(call install,'.[soak]')
	touch $@

lint: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/docs
	$(BIN)/python -m typer pygeco.cli.app utils docs --name geco --title "Command line" \
		--output docs/reference/cli.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict
	@echo built: build/site/index.html

$(VENV)/docs: $(VENV)/ready
	$(call install,'.[docs]')
	touch $@

.PHONY: coverage mutants
coverage: $(VENV)/trust
	$(BIN)/pytest -n 2 --dist loadfile --cov --cov-report=term:skip-covered $(ARGS)

mutants: $(VENV)/trust
	PATH="$(BIN):$$PATH" $(BIN)/python benchmarks/mutants.py $(ARGS)

$(VENV)/trust: $(VENV)/ready
	$(call install,'.[trust]')
	touch $@

gallery: $(VENV)/ready
	cd docs/img && for example in ../../examples/*.py; do \
		MPLBACKEND=Agg ../../$(BIN)/python $$example || exit 1; \
	done

bench: $(VENV)/ready
	$(BIN)/python benchmarks/bench.py $(ARGS)

bench-peers: .venv-peers/ready
	.venv-peers/bin/python benchmarks/peers.py
	.venv-peers/bin/python benchmarks/peers_clicks.py

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

# Bytecode is compiled on all cores and without what no test imports; some packages have files
# that no Python 3 compiles.
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	-$(PIP) -c constraints.txt uv
	$(call install,'.[dev]')
	$(BIN)/python -m compileall -qq -j 0 -x '/(tests?|pip|setuptools|mypyc?|fontTools|pygments|async_api)/' $(VENV)/lib || true
	touch $@

clean:
	rm -rf $(VENV) .venv-peers build dist geco-demo
