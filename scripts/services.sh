#!/usr/bin/env bash
# Installs the services that tests start and do not find: a Docker engine, and a static busybox to make an image of. Only root on Debian can;
# anybody else is told what is missing, and the tests say what they leave out.
set -euo pipefail
missing=()
command -v dockerd >/dev/null || missing+=(docker.io)
[ -x /bin/busybox ] || [ -x /usr/bin/busybox ] || missing+=(busybox-static)
command -v python3 >/dev/null || missing+=(python3)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "services: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # Tests start an engine of their own; the distribution's service is not started.
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d.caisson && chmod +x /usr/sbin/policy-rc.d.caisson
    placed=
    [ -e /usr/sbin/policy-rc.d ] || { mv /usr/sbin/policy-rc.d.caisson /usr/sbin/policy-rc.d; placed=1; }
    apt-get update -qq || true
    # Newer releases have the client in a package of its own.
    [[ ${missing[0]} != docker.io ]] || ! apt-cache show docker-cli >/dev/null 2>&1 || missing+=(docker-cli)
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    [ -z "$placed" ] || rm -f /usr/sbin/policy-rc.d
    rm -f /usr/sbin/policy-rc.d.caisson
else
    echo "services: ${missing[*]} is not installed; tests that need it are left out, and fail where CI is set"
fi
