# Sourced by every script: strict shell, the project's root, the Swift that builds it, and the counts of what passed.
# shellcheck shell=bash
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

say() { printf '%s\n' "$@"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# True when Swift 6 or newer can be run; a toolchain in one of the usual places is put into PATH.
find_swift() {
  local folder version
  # swiftc and not swift: a package of another project has a program of that name.
  for folder in "$(dirname "$(command -v swiftc || echo /none/)")" /opt/swift/usr/bin /opt/swift/bin \
    /usr/local/swift/usr/bin /usr/local/bin "${HOME:-/root}/.local/share/swiftly/bin"; do
    [ -x "$folder/swiftc" ] || continue
    version=$("$folder/swiftc" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 6 ]; then
      export PATH="$folder:$PATH"
      return 0
    fi
  done
  return 1
}

need_swift() { find_swift || fail "No Swift 6 here: run make deps."; }

# What every build says: an import that Package.swift does not declare is an error.
# shellcheck disable=SC2034 # used by those who source this
build_flags=(--explicit-target-dependency-import-check error)

# record PASSED FAILED SKIPPED: adds to the counts of the part of `make check` that is running, if one is.
record() { [ -z "${IFTALLY_RESULTS:-}" ] || printf '%d %d %d\n' "$1" "$2" "$3" >>"$IFTALLY_RESULTS"; }

# check TITLE COMMAND...: runs the command and counts it; its words are shown when it fails.
checks_passed=0 checks_failed=0
check() {
  local title=$1 words
  shift
  if words=$("$@" 2>&1); then
    checks_passed=$((checks_passed + 1))
    say "  ok      $title"
  else
    checks_failed=$((checks_failed + 1))
    say "  FAILED  $title"
    printf '%s\n' "$words" | sed 's/^/          /'
  fi
}

# Ends a script of checks: records them and fails when one failed.
finish() {
  record $checks_passed $checks_failed 0
  say "  $checks_passed passed, $checks_failed failed"
  [ $checks_failed = 0 ]
}
