#!/usr/bin/env bash
# Format, clippy with warnings denied, docs, unused dependencies, licences. Tools that are not installed are named, and fail under CI.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo clippy --locked --workspace --all-targets -- -D warnings
# Guests are workspaces of their own; their logic is checked natively, in the folder that their tests use.
for guest in guest-tools sdk/rust examples/unit-price; do
    (cd "$guest" && CARGO_TARGET_DIR="${CAISSON_BUILD_DIR:-$OLDPWD/build}/guest-native" cargo clippy --locked --all-targets -- -D warnings)
done
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
for tool in machete deny; do
    if ! command -v "cargo-$tool" >/dev/null; then
        echo "cargo-$tool is not installed (cargo install cargo-$tool): its check was left out"
        [ -z "${CI:-}" ] || exit 1
        continue
    fi
    case $tool in
        machete) cargo machete ;;
        deny) cargo deny --workspace check bans licenses sources ;;
    esac
done
