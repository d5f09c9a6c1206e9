#!/usr/bin/env bash
# Measures the goals of speed and size and prints them beside what was measured. Both sides of each ratio run in this one run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${CAISSON_BUILD_DIR:-$PWD/build}
if command -v npm >/dev/null; then
    mkdir -p "$build/bench"
    (cd "$build/bench" && [ -d node_modules ] || npm install --silent --no-package-lock --no-audit --no-fund @modelcontextprotocol/server-filesystem@2026.8.31)
else
    echo "npm is not here: the comparison with its file server is left out"
fi
# The profile that everything else is built with: another one would compile wasmtime again.
cargo build --locked --workspace --bins
for bench in scan against_regex true exec goals; do
    printf '\n== %s\n' "$bench"
    cargo bench --locked --profile dev --workspace --bench "$bench"
done
