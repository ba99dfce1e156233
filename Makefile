# `make demo` and `make test` do all set-up by themselves: a virtual environment in .venv, the
# build, the installation. Nothing outside this folder is changed.

PYTHON ?= python3
# Space for other names, say if .venv is taken: make test VENV=/tmp/planlog-venv
VENV ?= .venv
SANITIZED ?= $(VENV)-sanitize

bin := $(VENV)/bin
pip := -m pip --disable-pip-version-check -qq install
cpp := $(wildcard core/*/*.[ch]pp tests/core/*.[ch]pp)
sources := pyproject.toml CMakeLists.txt $(cpp)
# The tools of the build come from the environment itself, so that every build after the
# first only compiles what has changed. The package is installed in editable mode: changes of
# Python files need no new installation.
build_tools := scikit-build-core nanobind cmake ninja
install := --no-build-isolation --editable
# First, since the newest release may bring gigabytes for graphics cards.
torch := torch==2.13.0
path := PATH="$(abspath $(bin)):$$PATH"

# Tests of the core that the sanitizers watch; the whole suite would take too long under them.
# They reach every folder of core/.
sanitized_tests ?= tests/core tests/fuzz tests/pddl/test_errors.py \
  tests/pddl/test_extreme_texts.py \
  tests/datalog/test_evaluation_oracle.py tests/policy tests/statespace \
  tests/network/test_circuit.py tests/network/test_inference.py tests/search

# Minutes, seed and targets of `make fuzz`; with INPUT=FILE, one TARGETS and one input only.
MINUTES ?= 5
SEED ?= 0
TARGETS ?=
INPUT ?=
fuzz_options = $(if $(TARGETS),--targets $(TARGETS)) $(if $(INPUT),--input "$(abspath $(INPUT))") \
  --minutes $(MINUTES) --seed $(SEED) --out "$(CURDIR)/build/fuzz"

.PHONY: help demo check test fuzz lint coverage format sanitize stubs development-page screenshot \
        models benchmark clean

help:
	@echo "make demo       solve tasks of each domain with rules, then learn to solve them well"
	@echo "make check      for daily work: style, types, quick tests; under three minutes"
	@echo "make test       everything: also slow tests and the sanitizers; what CI runs"
	@echo "make fuzz       feed damaged files and command lines to everything, MINUTES=5 SEED=0"
	@echo "make lint       only check style and types"
	@echo "make coverage   run the quick tests and report line coverage of the Python code"
	@echo "make format     bring all sources into the common form"
	@echo "make sanitize   run the tests of the core under the address and UB sanitizers"
	@echo "make stubs      regenerate the type stubs of the compiled core"
	@echo "make development-page, make screenshot   regenerate parts of the documentation"
	@echo "make models     train the models that come with the domains"
	@echo "make benchmark  measure the speed against other implementations"
	@echo "make clean      remove everything that the others have made"

demo: $(VENV)/.installed
	@$(bin)/planlog demo

# The tier for daily work: no test marked slow, and a tenth of the random examples.
check: lint
	PLANLOG_TEST_PROFILE=quick $(bin)/python -m pytest -q -n 2 --dist worksteal -m "not slow"

# The tests come last, so that their closing line is the end of the output.
test: lint sanitize $(VENV)/.dev
	$(bin)/python -m pytest -n 2 --dist worksteal

# `make test` has a short run; this one takes as long as it may, and fails if it finds something.
fuzz: $(VENV)/.dev
	cd tests && $(abspath $(bin))/python -m fuzz $(fuzz_options)

lint: $(VENV)/.dev
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/clang-format --dry-run -Werror $(cpp)
	$(bin)/mypy
	$(bin)/lint-imports --no-cache
	$(bin)/codespell $$(git ls-files '*.md' '*.py' '*.[ch]pp' '*.toml' '*.cff' Makefile)

# The tests start commands in processes of their own, which are not measured.
coverage: $(VENV)/.dev
	PLANLOG_TEST_PROFILE=quick $(bin)/python -m pytest -q -n 2 --dist worksteal -m "not slow" \
	  --cov --cov-report=term --cov-report=html:build/coverage

stubs: $(VENV)/.dev
	$(bin)/python tools/stubs.py

development-page: $(VENV)/.installed
	$(bin)/python tools/development_page.py

screenshot: $(VENV)/.installed
	$(bin)/python tools/screenshot.py

format: $(VENV)/.dev
	$(bin)/ruff check --fix .
	$(bin)/ruff format .
	$(bin)/clang-format -i $(cpp)

# Python itself is not built with the sanitizers, so their library is loaded before it; and
# Python's own memory at exit is not a leak of ours.
sanitize: $(SANITIZED)/.installed
	@echo "tests of the core under the sanitizers:"
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) \
	            $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PLANLOG_TEST_PROFILE=sanitize \
	$(SANITIZED)/bin/python -m pytest -q -n 2 $(sanitized_tests)

# The models that come with Planlog: the default training on generated tasks.
domain_models := $(patsubst src/planlog/domains/%/policy.dl, model-%, $(wildcard src/planlog/domains/*/policy.dl))
models: $(domain_models)
$(domain_models): model-%: $(VENV)/.installed
	@rm -rf build/tasks-$*
	@$(bin)/planlog generate $* --split training --seed 0 --out build/tasks-$*
	$(bin)/planlog train build/tasks-$*/domain.pddl build/tasks-$*/p*.pddl $(options) \
	  --out src/planlog/domains/$*/model.safetensors
# From a car over its goal to other cars it is two steps.
model-ferry: options = --layers 2

benchmark: $(VENV)/.dev
	$(bin)/python benchmarks/speed.py
	$(bin)/python benchmarks/rollouts.py

clean:
	rm -rf build $(VENV) $(SANITIZED) .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	       .import_linter_cache

$(bin)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "Planlog needs Python 3.11 or later; name one with: make PYTHON=python3.12 ...")'
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(sources) | $(bin)/python
	@echo "building and installing planlog into $(VENV)"
	@$(bin)/python $(pip) $(build_tools) $(torch)
	@$(path) $(bin)/python $(pip) $(install) '.[train]'
	@touch $@

# What contributors need besides: all tools and oracles of the tests, the unit tests of the core,
# and a build in which every warning is an error.
$(VENV)/.dev: $(sources) | $(bin)/python
	@echo "building and installing planlog and the tools of its tests into $(VENV)"
	@$(bin)/python $(pip) $(build_tools) $(torch)
	@$(path) $(bin)/python $(pip) $(install) '.[dev,train,report,baselines,cluster]' \
	  -C cmake.define.PLANLOG_WERROR=ON -C cmake.define.PLANLOG_TESTS=ON
	@touch $(VENV)/.installed $@

# Only planlog itself is installed here; the other packages are those of $(VENV).
$(SANITIZED)/.installed: $(sources) $(VENV)/.dev
	@echo "building planlog with the sanitizers into $(SANITIZED)"
	@test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	@$(bin)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > "$$($(SANITIZED)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
	@$(path) $(SANITIZED)/bin/python $(pip) --no-deps $(install) . -C build-dir=build/sanitize \
	  -C cmake.define.PLANLOG_SANITIZE=ON -C cmake.define.PLANLOG_WERROR=ON \
	  -C cmake.define.PLANLOG_TESTS=ON
	@touch $@
