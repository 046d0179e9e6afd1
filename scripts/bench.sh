#!/bin/bash
# Measures: runs every program in Tests/bench.d against the release build, in the order of their names.
. "$(dirname "$0")/common.sh"
need_swift
scripts/release.sh
export IFTALLY_BIN=$PWD/.build/release
for part in Tests/bench.d/*; do
  [ -x "$part" ] || continue
  say "" "== $(sed -n '/^#!/d; /^#/{s/^# *//p;q}' "$part")"
  "$part"
done
