#!/bin/bash
# Installs what is missing to build, package (deb), test or check, as the argument says, and nothing else, through apt.
. "$(dirname "$0")/common.sh"

packages=()
lacks_header() { # HEADER PACKAGE
  [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ] || packages+=("$2")
}
lacks_program() { # PROGRAM PACKAGE
  PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null || packages+=("$2")
}
lacks_header libnl3/netlink/route/link.h libnl-route-3-dev
lacks_header systemd/sd-event.h libsystemd-dev
lacks_header microhttpd.h libmicrohttpd-dev
lacks_header ini.h libinih-dev
lacks_header sqlite3.h libsqlite3-dev
lacks_program pkg-config pkg-config
case ${1:-build} in
  build | deb) ;;
  test | check)
    lacks_program python3 python3
    lacks_program ip iproute2
    lacks_program curl curl
    ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || packages+=(libfaketime)
    ;;
  *) fail "usage: deps.sh build|deb|test|check" ;;
esac
if [ "${1:-}" = deb ] || [ "${1:-}" = check ]; then
  lacks_program dpkg-buildpackage dpkg-dev
  lacks_program dh debhelper
fi
if [ "${1:-}" = check ]; then
  lacks_program lintian lintian
  lacks_program zsh zsh
  lacks_program fish fish
  lacks_program mmdebstrap mmdebstrap
  lacks_program strace strace
  lacks_program shellcheck shellcheck
  [ -x /lib/systemd/systemd ] || packages+=(systemd)
fi

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
may_be_root() { [ ${#as_root[@]} = 0 ] || command -v sudo >/dev/null; }
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null >/dev/null
}
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | grep -vx '(none)'; }
# Fresh machines have empty package lists: fill them when a name is unknown, once.
refresh() {
  local name
  for name in "$@"; do
    if [ -z "$(candidate "$name" || true)" ]; then
      say "Reading the package lists (apt-get update)."
      apt_get update
      return
    fi
  done
}

swift_remedy="install Swift 6 from https://www.swift.org/install/linux/ and put its bin folder into PATH."
needs_swift=0
find_swift || needs_swift=1
if [ ${#packages[@]} = 0 ] && [ $needs_swift = 0 ]; then exit 0; fi

if ! command -v apt-get >/dev/null; then
  [ ${#packages[@]} = 0 ] || say "Without apt, please install what these Debian packages hold: ${packages[*]}." >&2
  [ $needs_swift = 0 ] || say "No Swift 6 found: $swift_remedy" >&2
  exit 1
fi
may_be_root || fail "Neither root nor sudo here. As root, run: make deps"

if [ $needs_swift = 1 ]; then
  refresh swiftlang
  version=$(candidate swiftlang || true)
  if [ -z "$version" ] || dpkg --compare-versions "$version" lt 6.0; then
    fail "No Swift 6 found, and this distribution packages none: $swift_remedy"
  fi
  packages+=(swiftlang g++ libc6-dev)
fi
refresh "${packages[@]}"
say "Installing what is missing: ${packages[*]}$([ $needs_swift = 0 ] || echo ' (about 600 MB, some minutes)')"
if ! apt_get install -y --no-install-recommends "${packages[@]}"; then
  say "Trying once more with fresh package lists."
  apt_get update
  apt_get install -y --no-install-recommends "${packages[@]}"
fi
need_swift
