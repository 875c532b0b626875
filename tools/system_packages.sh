#!/bin/sh
# Installs the programs that some tests need and pip does not have: Chromium, PostgreSQL and nginx, if they are missing.
# Works on Debian and its derivatives. Fails with a reason without the rights to install; those tests then skip.
set -eu

missing=
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
    missing="chromium"
command -v postgres >/dev/null || ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 ||
    missing="$missing postgresql"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] ||
    missing="$missing nginx-light"
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if ! command -v apt-get >/dev/null || ! $as_root true 2>/dev/null; then
    echo "Not installed, and no right to install here: $missing. The tests that need them will skip." >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086 # a list of names
$as_root apt-get install -q -y --no-install-recommends $missing
