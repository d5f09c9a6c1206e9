#!/usr/bin/env bash
# Every test: the host's crates, the guests' own, and the main job from end to end.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s\n' "$*"; }

say "services that the tests start"
scripts/services.sh

say "host: build (some minutes from nothing)"
cargo build --locked --workspace --all-targets

say "host: tests"
if command -v cargo-nextest >/dev/null; then
    cargo nextest run --locked --workspace --no-fail-fast
else
    cargo test --locked --workspace --no-fail-fast
fi

say "guests: tests of their own logic"
scripts/test-guests.sh

say "clients of other people against a running gateway"
tests/clients/run.sh

say "the main job from end to end"
scripts/demo.sh
