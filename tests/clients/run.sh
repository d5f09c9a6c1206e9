#!/usr/bin/env bash
# Other people's MCP clients against a running gateway: the TypeScript SDK's and the Python SDK's, each over HTTP and stdio.
# A client whose runtime is missing and cannot be installed is left out and named at the end; with CI set that is a failure.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)
build=${CAISSON_BUILD_DIR:-build}
caisson=${CAISSON_BIN:-target/debug/caisson}
# Both are relative to the root of the repository, wherever this is run from.
cd "$root"
mkdir -p "$build"
build=$(cd "$build" && pwd)
caisson=$(realpath "$caisson")
node_dir=$build/clients/node
python_dir=$build/clients/py

work=$(mktemp -d)
gateway=
cleanup() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
    [ -z "$gateway" ] || wait "$gateway" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

failed=0
left_out=()
step() { printf '\n== %s\n' "$*"; }

# apt PACKAGE…: false where this is not for us to do.
apt() {
    [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null || return 1
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"
}

has_node() { command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)' 2>/dev/null; }
has_python() { python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# What is installed is compared with what is wanted, so that a second run installs nothing.
install_node() {
    cmp -s "$here/package.json" "$node_dir/installed" && return
    mkdir -p "$node_dir" &&
        cp "$here/package.json" "$node_dir/" &&
        npm install --prefix "$node_dir" --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error >&2 &&
        cp "$here/package.json" "$node_dir/installed"
}

install_python() {
    cmp -s "$here/requirements.txt" "$python_dir/installed" && "$python_dir/bin/python" -c '' 2>/dev/null && return
    python3 -m venv --clear "$python_dir" &&
        "$python_dir/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt" &&
        cp "$here/requirements.txt" "$python_dir/installed"
}

# ready NAME WHAT PACKAGE…: whether the client of that name can run; otherwise it is left out.
ready() {
    local name=$1 what=$2
    shift 2
    if ! "has_$name" && ! { apt "$@" && "has_$name"; }; then
        left_out+=("the $name client: $what is missing (on Debian: $*)")
    elif ! "install_$name"; then
        left_out+=("the $name client: its packages could not be installed")
    else
        return 0
    fi
    return 1
}

step "clients: install"
with_node=
with_python=
ready node "Node.js 18 or newer, with npm," nodejs npm && with_node=yes
ready python "Python 3.11 or newer, with venv," python3 python3-venv && with_python=yes

step "start a gateway on a free port, with an empty database"
mkfifo "$work/started"
"$caisson" serve --json --listen 127.0.0.1:0 --data "$work/served" --built-in "$build/guests" >"$work/started" 2>"$work/log" &
gateway=$!
exec 3<"$work/started"
# The read ends when the gateway has written its line, or is gone.
read -r -u 3 line || { cat "$work/log"; exit 1; }
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p" <<<"$line"; }
url=$(field url)
token=$(field token)
[ -n "$url" ] && [ -n "$token" ] || { echo "run.sh: the gateway's first line has no url or no token" >&2; exit 1; }
echo "it listens on $url"

step "MCP on standard input and output ends with its input"
# Also compiles the built-in tools, so that no client takes a slow first start for a server of an older revision.
stdio=("$caisson" mcp --data "$work/stdio" --built-in "$build/guests")
if "${stdio[@]}" </dev/null >"$work/output" && [ ! -s "$work/output" ]; then
    echo "ok    it ended with 0 and wrote nothing"
else
    echo "FAIL  it ended with another status, or wrote: $(head -c 600 "$work/output")"
    failed=1
fi

if [ -n "$with_node" ]; then
    step "TypeScript SDK"
    # An import is looked up from the folder of the file that has it.
    cp "$here/client.mjs" "$node_dir/"
    node "$node_dir/client.mjs" "$url" "$token" "${stdio[@]}" || failed=1
fi
if [ -n "$with_python" ]; then
    step "Python SDK"
    "$python_dir/bin/python" "$here/client.py" "$url" "$token" "${stdio[@]}" || failed=1
fi

step "the gateway stops when asked"
kill "$gateway"
status=0
wait "$gateway" || status=$?
gateway=
if [ "$status" = 0 ]; then
    echo "ok    it ended with 0"
else
    echo "FAIL  it ended with $status"
    tail -n 20 "$work/log"
    failed=1
fi

for what in "${left_out[@]}"; do
    printf 'LEFT OUT: %s\n' "$what"
done
if [ "${#left_out[@]}" -gt 0 ] && [ -n "${CI:-}" ]; then
    failed=1
fi
exit "$failed"
