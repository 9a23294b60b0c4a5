# Everything that can be done with the project, by name. `make help` lists it.

CARGO ?= cargo
export PATH := $(HOME)/.cargo/bin:$(PATH)
TARGET = $(shell PATH="$(PATH)" $(CARGO) metadata --format-version 1 --no-deps \
	| sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
PARALLAX = $(TARGET)/release/parallax
TESTED = $(TARGET)/debug/parallax
# Seconds for each fuzz target.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= litmus cat program ops llvm lift elf schedule session certificate expectations \
	formulas document exchange proof checkpoint
# A folder of litmus tests with an expected.csv, beside the project.
SUITE ?= ../shared/suites/litmus

# Minutes of a hunt, where what it finds goes, and which programs it tries.
MINUTES ?= 5
FINDS ?= $(TARGET)/hunt
SEED ?= 1

.PHONY: help build demo tour test tools format lint unit suites examples long browser bench curves abstraction figures cluster docs fuzz hunt mutations benchexec clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## the command parallax, optimised
	$(CARGO) build --release --locked

demo: ## install what is missing, build, and run an example
	@sh scripts/bootstrap
	@$(MAKE) --no-print-directory tour

tour: build
	@sh scripts/demo "$(PARALLAX)"

test: tools format lint unit suites ## everything: format, lints, unit, corpus and property tests

tools: ## install what is missing: Rust, a linker, clang and LLVM
	@sh scripts/bootstrap

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) check --locked --manifest-path fuzz/Cargo.toml

unit:
	$(CARGO) test --locked --workspace

# With the command as the tests have it, which is there already: by itself it would be built with
# other features of what it is made of, and all of that once more.
suites: ## the corpus, and the suite beside the project if there is one
	$(CARGO) test --locked --workspace --no-run --quiet
	$(TESTED) litmus --quiet --expect tests/corpus/expected.csv
	@if [ -f "$(SUITE)/expected.csv" ]; then \
		set -x; $(TESTED) litmus --quiet --expect "$(SUITE)/expected.csv"; \
	fi

examples: ## compile the programs in examples/x86, by all compilers at all levels
	@sh examples/x86/build-all "$(TARGET)/examples-x86"

long: ## all of examples/x86, the rows that take minutes included; all of examples/c by a solver, with proofs, and by several threads
	PARALLAX_LONG=1 $(CARGO) test --locked --release -p parallax-cli --test x86_examples \
		--test certificates --test jobs
	$(CARGO) test --locked --release -p parallax-engine-bounded -p parallax-engine-view -- --ignored
	PARALLAX_CASES=5000 $(CARGO) test --locked --release -p parallax-engine-view \
		-p parallax-engine-states --test classes --test publishing

browser: ## pages of --report in chromium, clicked through; pictures of them are left behind (needs chromium, chromedriver)
	$(CARGO) build --locked -p parallax-cli
	scripts/browser "$(TESTED)" "$(TARGET)/browser"

cluster: build ## three processes in network namespaces of their own, one of which is cut off, then one killed (needs root, iproute2)
	sh scripts/cluster "$(PARALLAX)"

bench: build ## timings: whole suites and scaling families
	$(CARGO) bench --locked -p parallax-bench

abstraction: ## programs through configurations of abstraction refinement; fill the tables of the book
	$(CARGO) test --locked --release -p parallax-engine-abstract --test tables -- \
		--ignored --nocapture --test-threads 1

curves: ## time the exploration engine; draw the curves of the book, fill the table of the README
	$(CARGO) bench --locked -p parallax-bench --bench explore > "$(TARGET)/explore.txt"
	@cat "$(TARGET)/explore.txt"
	$(CARGO) run --locked --release -p parallax-bench --example curves -- \
		docs/src/figures README.md < "$(TARGET)/explore.txt"

figures: build ## measure the case studies of examples/x86; fill their table in the README
	$(CARGO) run --locked --release -p parallax-bench --example case_studies -- \
		"$(PARALLAX)" README.md

docs: ## the book and the documentation of the crates
	@command -v mdbook >/dev/null || $(CARGO) install --locked mdbook
	mdbook build docs
	$(CARGO) doc --locked --workspace --no-deps

# Sanitizers and coverage are switched on with compiler flags that stable Rust hides.
fuzz: export RUSTC_BOOTSTRAP = 1
fuzz: ## FUZZ_SECONDS of each fuzz target
	@command -v cargo-fuzz >/dev/null || env -u RUSTC_BOOTSTRAP $(CARGO) install --locked cargo-fuzz
	@set -e; mkdir -p "$(TARGET)/seeds/elf" "$(TARGET)/seeds/lift"; \
	for name in dekker peterson lamport; do \
		object="$(TARGET)/seeds/elf/$$name.o"; \
		cc -O1 -w -c examples/x86/$$name.c -o "$$object"; \
		objcopy -O binary --only-section=.text "$$object" "$(TARGET)/seeds/lift/$$name"; \
	done
	@set -e; for target in $(FUZZ_TARGETS); do \
		case $$target in \
			litmus) seeds=tests/corpus ;; \
			cat) seeds=models ;; \
			ops) seeds=examples/ops ;; \
			llvm) seeds=crates/frontend-c/tests/ll ;; \
			certificate) seeds= ;; \
			elf|lift) seeds=$(TARGET)/seeds/$$target ;; \
			document) seeds=examples/c ;; \
			schedule|session|expectations|formulas|exchange|proof|checkpoint) seeds=fuzz/seeds/$$target ;; \
			*) seeds=examples/programs ;; \
		esac; \
		mkdir -p fuzz/corpus/$$target; \
		$(CARGO) fuzz run $$target fuzz/corpus/$$target $$seeds -- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024; \
	done

hunt: ## MINUTES of random programs through every engine; disagreements go to FINDS
	$(CARGO) run --locked --release -p parallax-hunt -- \
		--minutes $(MINUTES) --seed $(SEED) --keep "$(FINDS)" --details

mutations: ## break the engines in many ways; a table says who noticed
	scripts/mutations --folder "$(TARGET)/mutations" --table "$(TARGET)/mutations.md"

benchexec: ## run the project's own tasks by BenchExec, from PyPI, with the module in contrib/benchexec
	$(CARGO) build --locked -p parallax-cli
	contrib/benchexec/test "$(TESTED)" "$(TARGET)/benchexec"

clean: ## remove what was built
	$(CARGO) clean
	rm -rf docs/book
