#!/usr/bin/env bash
# Format, clippy with warnings denied, docs, unused dependencies, licences. Tools that are not installed are named, and fail under CI.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo clippy --locked --workspace --all-targets -- -D warnings
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
