#!/usr/bin/env bash
# Makes sure that guests (plugins written in Rust) can be built here, and writes what a build needs to know into
# <build folder>/guest-env.sh, the one source of truth for everything that builds guests. Quick when there is nothing to do.
#
# First choice: the target of the Rust toolchain itself. Where that cannot be fetched, on Debian as root: the distribution's
# own compiler with its library sources, and a wasi-libc unpacked into the build folder from a sources list of its own, so
# that the machine's package configuration stays as it is. CAISSON_GUEST_TOOLCHAIN=debian skips the first choice.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-wasip2
build=${CAISSON_BUILD_DIR:-$PWD/build}
mkdir -p "$build"
build=$(cd "$build" && pwd)
env_file=$build/guest-env.sh
root=$build/wasi-root
sysroot=$root/usr/lib/$target
wanted=${CAISSON_GUEST_TOOLCHAIN:-any}
packages=(rustc-web cargo-web rust-web-src lld-22)

say() { printf 'setup-guest: %s\n' "$*"; }
fail() {
    printf 'setup-guest: %s\n' "$@" >&2
    exit 1
}

# assign NAME VALUE: in single quotes, the one form that other readers of the file understand too.
assign() { printf "export %s='%s'\n" "$1" "$(printf %s "$2" | sed "s/'/'\\\\''/g")"; }

# write_env CARGO RUSTC ARGS [NAME=VALUE…]: replaces the file only when it is complete.
write_env() {
    {
        echo "# Written by scripts/setup-guest.sh; run it again rather than editing this."
        assign CAISSON_GUEST_CARGO "$1"
        assign RUSTC "$2"
        assign CAISSON_GUEST_CARGO_ARGS "$3"
        shift 3
        for pair in "$@"; do assign "${pair%%=*}" "${pair#*=}"; done
    } >"$env_file.new"
    mv "$env_file.new" "$env_file"
}

has_own_target() { [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$target/lib" ]; }

use_own_target() {
    write_env "$(command -v cargo)" "$(command -v rustc)" ""
    say "ready: $(rustc --version) with its own $target"
}

# The file is kept when every path it names is still there.
still_good() {
    [ -f "$env_file" ] || return 1
    (
        # shellcheck disable=SC1090
        . "$env_file"
        [ -x "$CAISSON_GUEST_CARGO" ] && [ -x "$RUSTC" ] || exit 1
        if [ -n "$CAISSON_GUEST_CARGO_ARGS" ]; then
            [ -f "$sysroot/crt1-reactor.o" ] && [ -x "$CARGO_TARGET_WASM32_WASIP2_LINKER" ]
        else
            [ "$wanted" != debian ] && has_own_target
        fi
    )
}

have_packages() {
    local name
    for name in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || return 1
    done
}

# Prints `URI` and `Signed-By` of the machine's Debian archive, whichever way its sources are written.
debian_source() {
    local codename=$1 file
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        awk -v suite="$codename" '
            function done() { if (ok && uri) { print uri, key; exit } ok = 0; uri = ""; key = "" }
            /^[[:space:]]*$/ { done() }
            /^URIs:/ { uri = $2 }
            /^Signed-By:/ { key = $2 }
            /^Suites:/ { for (i = 2; i <= NF; i++) if ($i == suite) ok = 1 }
            END { done() }' "$file"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        awk -v suite="$codename" '
            $1 == "deb" {
                key = ""; at = 2
                if ($2 ~ /^\[/) { for (at = 2; at <= NF; at++) { if (match($at, /signed-by=[^] ]*/)) key = substr($at, RSTART + 10, RLENGTH - 10); if ($at ~ /\]$/) { at++; break } } }
                if ($(at + 1) == suite) { print $at, key; exit }
            }' "$file"
    done
}

# Unpacks a wasi-libc that knows the target; looks in backports first, then in the newer releases.
unpack_wasi_libc() {
    [ -f "$sysroot/crt1-reactor.o" ] && return 0
    local codename uri key suite work=$build/apt
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    read -r uri key < <(debian_source "$codename" | head -n 1) ||
        fail "no Debian source for \`$codename\` under /etc/apt: unpack a wasi-libc with $target into $root"
    for suite in "$codename-backports" trixie forky sid; do
        say "looking for a wasi-libc with $target in $suite"
        rm -rf "$work" && mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/deb"
        echo "deb [${key:+signed-by=$key}] $uri $suite main" | sed 's/ \[\]//' >"$work/own.list"
        local options=(-qq -o "Dir::Etc::sourcelist=$work/own.list" -o Dir::Etc::sourceparts=/dev/null
            -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=root")
        apt-get "${options[@]}" update || continue
        (cd "$work/deb" && apt-get "${options[@]}" download wasi-libc) || continue
        rm -rf "$root" && mkdir -p "$root"
        dpkg-deb -x "$work"/deb/wasi-libc_*.deb "$root"
        rm -rf "$work"
        [ -f "$sysroot/crt1-reactor.o" ] && return 0
    done
    fail "found no wasi-libc with $target"
}

find_linker() {
    local sysroot_of candidate
    for sysroot_of in "$(rustc --print sysroot 2>/dev/null)" "${RUSTUP_HOME:-$HOME/.rustup}"/toolchains/*; do
        for candidate in "$sysroot_of"/lib/rustlib/*/bin/wasm-component-ld; do
            [ -x "$candidate" ] && echo "$candidate" && return 0
        done
    done
    return 1
}

if still_good; then
    say "ready ($env_file)"
    exit 0
fi
if [ "$wanted" != debian ] && has_own_target; then
    use_own_target
    exit 0
fi
if [ "$wanted" != debian ] && command -v rustup >/dev/null; then
    say "trying \`rustup target add $target\` (at most a minute)"
    if timeout 60 rustup target add "$target" >"$build/rustup.log" 2>&1 && has_own_target; then
        use_own_target
        exit 0
    fi
    say "that did not work ($(tail -n 1 "$build/rustup.log" 2>/dev/null || true)); falling back to Debian's packages"
fi

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this is not Debian: install the Rust target $target (\`rustup target add $target\`) and run this again"
if ! have_packages; then
    [ "$(id -u)" = 0 ] ||
        fail "as root, install what guests need and run this again: apt-get install ${packages[*]}" \
            "(or, where the network allows it: rustup target add $target)"
    say "installing ${packages[*]} (some minutes)"
    DEBIAN_FRONTEND=noninteractive apt-get -qq update || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" >"$build/apt-install.log" 2>&1 ||
        fail "apt-get could not install them; the log is $build/apt-install.log"
fi
linker=$(find_linker) ||
    fail "no wasm-component-ld: it comes with a rustup toolchain (lib/rustlib/*/bin); install one and run this again"
wasm_ld=$(command -v wasm-ld-22 || command -v wasm-ld) || fail "no wasm-ld, which the package lld-22 should have brought"
unpack_wasi_libc
write_env /usr/bin/cargo /usr/bin/rustc "-Zbuild-std=std,panic_abort" RUSTC_BOOTSTRAP=1 \
    "CARGO_TARGET_WASM32_WASIP2_LINKER=$linker" \
    "RUSTFLAGS=-C link-self-contained=no -L native=$sysroot -C link-arg=$sysroot/crt1-reactor.o -C link-arg=--wasm-ld-path=$wasm_ld"
say "ready: $(/usr/bin/rustc --version) with the standard library built from source ($env_file)"
