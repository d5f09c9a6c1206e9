#!/usr/bin/env bash
# The tests of what the guests and the SDK compute by themselves, compiled for this machine: no gateway, no network.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${CAISSON_BUILD_DIR:-$PWD/build}
mkdir -p "$build"
build=$(cd "$build" && pwd)
# One target folder for all: they share most of their dependencies.
export CARGO_TARGET_DIR=$build/guest-native

for workspace in sdk/rust guest-tools examples/unit-price; do
    printf 'test-guests: %s\n' "$workspace"
    (cd "$workspace" && cargo test --locked --workspace)
done
