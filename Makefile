# The verbs. `make help` lists them; `make` alone builds.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:

# One cache outside the tree, so that a second clone compiles only the workspace itself.
CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/wirelake
export CARGO_TARGET_DIR ?= $(CACHE)/target

# Cargo tells the crates of two clones apart by their paths inside the clone, so in a shared target folder it would take
# one clone's crates for the other's. It hashes the path of this wrapper into the names of the workspace's own crates.
# The finished program has one name for all; the lock in `build` keeps another clone's from being installed here.
export RUSTC_WORKSPACE_WRAPPER := $(CURDIR)/scripts/rustc

# libduckdb is linked ready-built. DUCKDB_LIB_DIR names another folder that has a libduckdb.so.
export DUCKDB_LIB_DIR ?= $(shell scripts/duckdb folder "$(CACHE)")

export CARGO_TERM_COLOR ?= $(if $(CI),never,auto)
export CARGO_TERM_PROGRESS_WHEN ?= never
ifdef CI
export NO_COLOR := 1
endif

BIN := target/release/wirelake
NIGHTLY := env -u RUSTC_WORKSPACE_WRAPPER cargo +nightly
T ?=
S ?= 60
BENCHES ?= decode udp tcp store capture loggregator
ARGS ?=

.PHONY: build run test check fmt lint layers unit ui ui-test live live-servers bench bench-live instructions golden fuzz miri sanitize deny deps tools dist clean distclean help

build: deps ## build target/release/wirelake
	@mkdir -p "$(CARGO_TARGET_DIR)"
	@exec 9>"$(CARGO_TARGET_DIR)/.install.lock"; flock 9; \
	    cargo build --release -p wirelake --locked; \
	    scripts/install "$(CARGO_TARGET_DIR)/release/wirelake" "$(DUCKDB_LIB_DIR)/libduckdb.so"

run: build ## build and serve with the built-in defaults; ARGS="..." adds flags
	@exec $(BIN) serve $(ARGS)

test: ## everything that must hold: format, lints, tests, the page, live tests
	@scripts/step "dependencies" $(MAKE) deps
	@scripts/step "tools for the live tests" $(MAKE) tools
	@scripts/step "format" $(MAKE) fmt
	@scripts/step "lints" $(MAKE) lint
	@scripts/step "build" scripts/fold $(MAKE) build
	@scripts/step "tests" $(MAKE) unit
	@scripts/step "web page" $(MAKE) ui-test
	@scripts/step "live tests" $(MAKE) live

check: fmt lint layers ## the quick part of `make test`: format, lints, layers

fmt: ## fail where the format differs; `cargo fmt` mends it
	@cargo fmt --all --check -- -l || { echo "not formatted: run cargo fmt --all"; exit 1; }

# CLIPPY_ARGS is part of what makes clippy look again, and so holds the clone's path: see RUSTC_WORKSPACE_WRAPPER.
lint: deps ## clippy over everything; a warning is an error
	@scripts/fold cargo clippy --workspace --all-targets --release --locked -- -D warnings --cfg 'tree="$(CURDIR)"'

layers: ## check the order of the crates, unsafe and left-over markers, without building the workspace
	@mkdir -p target
	@CARGO_MANIFEST_DIR="$(CURDIR)/crates/wirelake" rustc --edition 2024 --test crates/wirelake/tests/layers.rs -o target/layers
	@target/layers --quiet

unit: deps ## unit, property, golden and documentation tests
	@scripts/fold cargo test --workspace --release --locked --no-run
	@cargo test --workspace --release --locked

ui: ## rebuild ui/dist, which the binary embeds
	@scripts/need npm "node 20.19 or later with npm builds the page"
	@cd ui && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

ui-test: ## check that ui/dist is what ui/ builds; types, unit tests, and the page in a browser
	@scripts/ui

live: ## start real clients and servers against the binary
	@scripts/live

live-servers: ## the same against Kafka and FerretDB, which Maven and Go fetch in pinned versions (needs root, minutes)
	@# The tests run in a network namespace, from where no module can be fetched.
	@cd tests/live/servers/mongodb && CGO_ENABLED=0 go build -o /dev/null . || true
	@KAFKA_JARS="$$(scripts/kafka "$(CACHE)")" scripts/live tests/live/servers

bench: build ## measure; BENCHES="decode udp" picks some
	@for name in $(BENCHES); do $(BIN) bench "$$name"; done

bench-live: build ## capture beside real servers and load generators: captured, lost, CPU per request (needs root)
	@scripts/bench-capture

instructions: ## count instructions per message and roundtrip; fails 2 % above tests/instructions.txt; UPDATE=1 rewrites it
	@scripts/instructions $(if $(UPDATE),--update)

golden: deps ## rewrite the golden files and generated references; review the diff
	@UPDATE_GOLDEN=1 cargo test --workspace --release --locked

fuzz: ## fuzz T=target (default: each in turn) for S=60 seconds
	@command -v cargo-fuzz >/dev/null || env -u CARGO_TARGET_DIR -u RUSTC_WORKSPACE_WRAPPER cargo install cargo-fuzz --locked
	@export CARGO_TARGET_DIR="$(CACHE)/target-fuzz"; for name in $(or $(T),$$($(NIGHTLY) fuzz list)); do \
	    echo "== fuzz $$name, $(S) s"; mkdir -p "$(CACHE)/corpus/$$name"; \
	    $(NIGHTLY) fuzz run "$$name" "$(CACHE)/corpus/$$name" tests/vectors -- -max_total_time=$(S) -print_final_stats=1; done

miri: deps ## run the tests of the crates with unsafe under miri
	@CARGO_TARGET_DIR=target/miri $(NIGHTLY) miri test -p mem -p simd --locked

sanitize: deps ## run the same tests under the address and the thread sanitizer
	@for kind in address thread; do echo "== $$kind sanitizer"; \
	    RUSTFLAGS="-Zsanitizer=$$kind" CARGO_TARGET_DIR="target/sanitize-$$kind" $(NIGHTLY) test -Zbuild-std \
	    --target "$$(rustc -vV | sed -n 's/^host: //p')" -p mem --locked --lib --test operations --test shared; done

deny: ## check licences, advisories and sources of the dependencies
	@scripts/need cargo-deny "install it with: cargo install cargo-deny --locked"
	@cargo deny --locked check

dist: deps ## pack the optimised binary and libduckdb into target/dist
	@WIRELAKE_DIST=1 cargo build --profile dist -p wirelake --locked
	@scripts/dist "$(CARGO_TARGET_DIR)/dist/wirelake" "$(DUCKDB_LIB_DIR)/libduckdb.so"

deps: ## fetch libduckdb into the cache and link it to .deps/duckdb
	@scripts/duckdb fetch "$(CACHE)"

tools: ## install the Debian packages that the live tests use, where they are missing
	@scripts/tools

clean: ## remove what this clone built
	@rm -rf target .deps ui/node_modules

distclean: clean ## remove the shared cache, too
	@rm -rf "$(CACHE)"

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' Makefile
