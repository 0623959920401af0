# make demo | make test | make test-all | make coverage | make test-oldest | make wheel | make verify | make lint | make bench | make race-main | make docs | make paper: each creates .venv and builds what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name 'Cargo.toml')

N ?= 1000
SEED ?= 0
BASE ?= origin/main
# Each module is compiled where it is first imported, and never again: pip would compile all that is never imported, too.
export PYTHONDONTWRITEBYTECODE :=
export PIP_COMPILE := 0

# numpy 2.0 has no wheel for Python 3.13 and later.
OLDEST_PYTHON ?= python3.11
OLDEST := .venv-oldest
WHEEL := .venv-wheel
WHEEL_TARGETS ?= $(shell rustup target list --installed 2>/dev/null || rustc -vV | sed -n 's/^host: //p')

.PHONY: demo test test-all coverage test-oldest wheel verify lint lint-rust lint-python format bench race-main docs paper clean

demo: $(VENV)/.package
	$(BIN)/python examples/start/tags_for_software.py demo.png

# What catches a fault; with the tests marked slow it is test-all.
test: $(VENV)/.package $(VENV)/.test
	cargo test --release --workspace
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(VENV)/.package $(VENV)/.test
	cargo test --release --workspace
	$(BIN)/python -m pytest -n auto

# Lines of Python and of Rust that make test reaches, more than 97 in 100; needs `cargo install cargo-llvm-cov`. Worker
# processes that end after the tests hand in what they counted late. Loops that count are slower than the product of
# matrices with which a test of Ctrl-C compares them: it is left out. It leaves an extension that counts, which the next
# target replaces.
coverage: $(VENV)/.package $(VENV)/.dev
	rm $(VENV)/.package
	eval "$$(cargo llvm-cov show-env --sh)" && cargo llvm-cov clean --workspace && \
		cargo test --release --workspace && \
		cargo build --release --package multimargin-python && \
		cp target/release/lib_rust.so pyref/multimargin/_rust.abi3.so && \
		$(BIN)/python -m pytest -n auto -m "not slow" -k "not no_longer_than_a_product" --cov --cov-report= && \
		cargo llvm-cov report --release --fail-under-lines 97
	$(BIN)/python -m coverage combine --append --quiet || true
	$(BIN)/python -m coverage report --show-missing --skip-covered --fail-under 97

# The same with the lowest versions that pyproject.toml allows, in an environment of its own. Old libraries use what
# the newest of their own libraries call deprecated, and scorers of scikit-learn 1.7 warn of many classes in `classes_`.
test-oldest: $(OLDEST)/.package
	$(OLDEST)/bin/python -m multimargin --version
	$(OLDEST)/bin/python -m pytest -n auto -m "not slow" -W ignore::DeprecationWarning \
		-W "ignore:The number of unique classes:UserWarning"

# On Linux, wheels for each of rustup's installed targets: manylinux2014 by the C library that zig brings, or musllinux.
# Elsewhere one for this machine. And the sdist. What is handed out is optimised as a whole, for a minute more: fits are 1 to
# 2 % faster, those of a few milliseconds a tenth. The wheel of this machine is checked in a fresh environment with nothing
# but what it requires.
wheel: $(VENV)/.created
	rm -rf dist
	$(BIN)/python -m pip install --quiet --group wheels
	set -e; export PATH="$(abspath $(BIN)):$$PATH"; for target in $(WHEEL_TARGETS); do \
		case $$target in \
			*-linux-gnu) how="--zig --compatibility manylinux2014" ;; \
			*-linux-musl) how="--zig --compatibility musllinux_1_2" ;; \
			*) how= ;; \
		esac; \
		env -u CONDA_PREFIX CARGO_PROFILE_RELEASE_LTO=thin CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
			maturin build --release --locked --target $$target $$how --out dist; \
	done
	$(BIN)/maturin sdist --out dist
	$(BIN)/python tools/compress_wheel.py dist/*.whl
	rm -rf $(WHEEL) && $(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --no-deps --no-index --find-links dist --only-binary :all: multimargin
	$(WHEEL)/bin/python -m pip install --quiet multimargin
	$(WHEEL)/bin/python tools/check_wheel.py dist

# Random problems over all methods against the exact reference, as in: make verify N=10000 SEED=7
verify: $(VENV)/.package $(VENV)/.dev
	$(BIN)/python -m tests.campaign --count $(N) --seed $(SEED)

lint: lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" \
		cargo doc --release --no-deps --workspace --document-private-items

lint-python: $(VENV)/.package $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest multimargin._rust
	$(BIN)/python -m pytest -q style

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt --all

bench: $(VENV)/.package $(VENV)/.dev
	$(BIN)/python benchmarks/run_all.py

# This tree against another one, origin/main if not named, as in: make race-main BASE=HEAD~1
race-main: $(VENV)/.package
	$(BIN)/python benchmarks/race_main.py --base $(BASE)

docs: $(VENV)/.package $(VENV)/.dev
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_guide.py docs/_build/html

# paper/paper.pdf. `python paper/collect.py RESULTS` takes its numbers from what the benchmarks wrote.
paper: $(VENV)/.package $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group paper
	$(BIN)/python -c "import typst; typst.compile('paper/paper.typ', output='paper/paper.pdf', root='.')"

clean:
	rm -rf $(VENV) $(OLDEST) $(WHEEL) target dist docs/_build

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip maturin
	touch $@

$(VENV)/.package: $(VENV)/.created pyproject.toml $(RUST_SOURCES)
	@echo "Compiling the solvers and installing what the package needs: two to four minutes, once."
	env -u CONDA_PREFIX VIRTUAL_ENV=$(abspath $(VENV)) \
		$(BIN)/maturin develop --release --extras exact,cli,plots,stats,dask
	touch $@

# After the package, lest both install at the same time.
$(VENV)/.test: $(VENV)/.created pyproject.toml | $(VENV)/.package
	$(BIN)/python -m pip install --quiet --group testing
	touch $@

$(VENV)/.dev: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group contributing
	touch $@

$(OLDEST)/.package: pyproject.toml $(RUST_SOURCES)
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip uv maturin
	$(OLDEST)/bin/uv pip compile --quiet pyproject.toml --extra all --group test --resolution lowest-direct \
		--python $(OLDEST)/bin/python --output-file $(OLDEST)/requirements.txt
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --requirement $(OLDEST)/requirements.txt
	env -u CONDA_PREFIX VIRTUAL_ENV=$(abspath $(OLDEST)) $(OLDEST)/bin/maturin develop --release
	touch $@
