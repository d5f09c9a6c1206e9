#!/usr/bin/env bash
# Builds the built-in tools and the sample plugin, each with its manifest in it:
#   <build folder>/guests/{exec,files,text,web}.wasm, <build folder>/examples/unit-price.wasm, <build folder>/tests/hostile.wasm
# Quick when nothing changed. Needs scripts/setup-guest.sh to have run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${CAISSON_BUILD_DIR:-$PWD/build}
mkdir -p "$build/guests" "$build/examples" "$build/tests"
build=$(cd "$build" && pwd)
export CAISSON_BUILD_DIR=$build

say() { printf 'build-guests: %s\n' "$*"; }
if [ ! -f "$build/guest-env.sh" ]; then
    say "no toolchain for guests yet, setting it up"
    scripts/setup-guest.sh
fi

# What every guest is made from, beside its own folder.
common=(sdk/rust wit host/author/src host/contract/src "$build/guest-env.sh")

# current OUT PATH…: whether nothing in these paths is newer than OUT.
current() {
    local out=$1
    shift
    [ -f "$out" ] && [ -z "$(find "$@" -name target -prune -o -type f -newer "$out" -print -quit)" ]
}

# guest FOLDER OUT PATH…
guest() {
    local folder=$1 out=$2
    shift 2
    if current "$out" "$folder" "$@" "${common[@]}"; then
        say "${out##*/} is up to date"
        return
    fi
    say "building ${out##*/}"
    cargo run --locked -q -p caisson-author --bin caisson-author -- build "$folder" --out "$out"
    say "${out##*/}: $(($(wc -c <"$out") / 1024)) KiB"
}

for name in exec files text web; do
    guest "guest-tools/$name" "$build/guests/$name.wasm" guest-tools/Cargo.toml guest-tools/Cargo.lock
done
guest examples/unit-price "$build/examples/unit-price.wasm"
for name in hostile patient; do
    guest "tests/guests/$name" "$build/tests/$name.wasm"
done
