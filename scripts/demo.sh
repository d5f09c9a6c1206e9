#!/usr/bin/env bash
# The main job from end to end, unattended: a gateway with an empty database, a third-party plugin uploaded, looked at, granted and called, the
# built-in file tools over HTTP and MCP, and refusals with their reasons. Ends with 0 only if each did what it should.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${CAISSON_BUILD_DIR:-$PWD/build}
caisson=${CAISSON_BIN:-$PWD/target/debug/caisson}
plugin=$build/examples/unit-price.wasm
work=$(mktemp -d)
gateway=
cleanup() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
    [ -z "$gateway" ] || wait "$gateway" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

passed=0
failed=0
step() { printf '\n== %s\n' "$*"; }
# expect WHAT PATTERN TEXT
expect() {
    if grep -qE -- "$2" <<<"$3"; then
        printf 'ok    %s\n' "$1"
        passed=$((passed + 1))
    else
        printf 'FAIL  %s\n      wanted: %s\n      got:    %s\n' "$1" "$2" "$(head -c 600 <<<"$3")"
        failed=$((failed + 1))
    fi
}
# A command that is meant to fail: its output, whatever its status.
try() { "$@" 2>&1 || true; }

step "start a gateway on a free port, with an empty database"
"$caisson" serve --json --listen 127.0.0.1:0 --data "$work/data" --built-in "$build/guests" >"$work/started" 2>"$work/log" &
gateway=$!
for _ in $(seq 1 600); do
    [ -s "$work/started" ] && break
    kill -0 "$gateway" 2>/dev/null || { cat "$work/log"; exit 1; }
    sleep 0.1
done
field() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/started" "$1"; }
CAISSON_URL=$(field url)
CAISSON_TOKEN=$(field token)
export CAISSON_URL CAISSON_TOKEN
echo "it listens on $CAISSON_URL"
expect "the gateway is ready" '"?ready"?|ok' "$(curl -s "$CAISSON_URL/ready")"

step "the built-in file tools over HTTP"
expect "write_file" 'notes.txt' "$(try "$caisson" call write_file '{"path":"notes.txt","content":"hello from the demo\n"}')"
expect "read_file" 'hello from the demo' "$(try "$caisson" call read_file '{"path":"notes.txt"}')"
expect "list_files" 'notes.txt' "$(try "$caisson" call list_files '{}')"

step "the built-in file tools over MCP"
mcp() {
    curl -s "$CAISSON_URL/mcp" -H "Authorization: Bearer $CAISSON_TOKEN" -H 'Content-Type: application/json' \
        -H 'Accept: application/json, text/event-stream' "${@:2}" -d "$1"
}
init='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}'
answer=$(mcp "$init" -D "$work/headers")
expect "initialize" 'protocolVersion' "$answer"
session=$(tr -d '\r' <"$work/headers" | awk 'tolower($1) == "mcp-session-id:" { print $2 }')
with=(-H 'MCP-Protocol-Version: 2025-11-25')
[ -z "$session" ] || with+=(-H "Mcp-Session-Id: $session")
mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}' "${with[@]}" >/dev/null
expect "tools/list" 'list_files' "$(mcp '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' "${with[@]}")"
expect "tools/call read_file" 'hello from the demo' \
    "$(mcp '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"notes.txt"}}}' "${with[@]}")"

step "a third-party plugin: upload, look, grant, call"
expect "upload: held, with what it asks for" 'held' "$(try "$caisson" upload "$plugin")"
shown=$(try "$caisson" inspect unit-price)
printf '%s\n' "$shown"
expect "it asks for files" '/workspace' "$shown"
expect "a call before the grant is refused, with the reason" 'not-offered.*(held|grant)' \
    "$(try "$caisson" call save_price '{"price":"3.50","quantity":"2","unit":"kg"}')"
expect "grant" 'serving' "$(try "$caisson" grant unit-price --all)"
expect "unit_price" '1\.75' "$(try "$caisson" call unit_price '{"price":"3.50","quantity":"2","unit":"kg"}')"
expect "save_price" 'prices.csv' "$(try "$caisson" call save_price '{"price":"3.50","quantity":"2","unit":"kg"}')"
expect "what it wrote is in the workspace" '1\.75' "$(try "$caisson" call read_file '{"path":"prices.csv"}')"

step "refusals name their rule and what would allow them"
refused=$(try "$caisson" call web_fetch '{"url":"http://169.254.169.254/latest/meta-data/"}')
printf '%s\n' "$refused"
expect "the web without a setting" 'denied.*http\.' "$refused"
expect "a path outside the workspace" 'denied.*files\.|no such file|not found' "$(try "$caisson" call read_file '{"path":"../../../../etc/passwd"}')"
expect "arguments that do not fit" 'invalid-arguments' "$(try "$caisson" call read_file '{"pfad":"x"}')"
expect "a tool that does not exist, with the nearest" 'unknown-tool.*read_file' "$(try "$caisson" call read_fil '{}')"

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
