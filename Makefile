# One profile and one target folder for everything: a second of either would compile wasmtime again.
BUILD := $(CURDIR)/build
export CAISSON_BUILD_DIR := $(BUILD)
CARGO ?= cargo

.PHONY: help setup guests host run demo test bench lint

help:
	@echo "make run    set up, build, and start the gateway with the built-in tools"
	@echo "make demo   run the main job from end to end, unattended"
	@echo "make test   set up, build, and run every test"
	@echo "make bench  measure, and print the table of goals beside what was measured"
	@echo "make lint   format, clippy, docs, unused dependencies, licences"
	@echo "make setup  only the toolchain for guests"

setup:
	@scripts/setup-guest.sh

guests: setup
	@scripts/build-guests.sh

host:
	$(CARGO) build --locked -p caisson -p caisson-confine

run: guests host
	target/debug/caisson serve --data $(BUILD)/data --built-in $(BUILD)/guests

demo: guests host
	@scripts/demo.sh

test: guests
	@scripts/test.sh

bench: guests
	@scripts/bench.sh

lint:
	@scripts/lint.sh
