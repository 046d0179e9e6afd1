#!/bin/bash
# The habits of the source that no compiler looks after.
. "$(dirname "$0")/common.sh"
need_swift
mkdir -p .build
mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- Sources Tests Package.swift)

formatted() { swift format lint --strict --recursive --parallel Sources Tests Package.swift; }

# A counter is no meter: that word must reach nobody who reads our output. Comments may use it, Int(exactly:) too.
no_false_promise() {
  printf '%s\n' "${sources[@]}" | grep -E '^Sources/.*\.(swift|c|h|html|js|css)$' >.build/lint.files
  ! xargs -d '\n' grep -nHiE '\bexact(ly)?\b' <.build/lint.files |
    grep -vE ':[0-9]+: *(//|\*|/\*)' | sed -E 's,[^:"](//|/\*).*,,' | grep -E '\bexact(ly)?\b' | grep -viE 'exactly:'
}

no_unfinished_work() {
  ! grep -nHE '\b(TODO|FIXME|XXX)\b' "${sources[@]}" Makefile systemd/* man/*
}

opens_with_a_sentence() {
  local file wrong=0
  for file in $(printf '%s\n' "${sources[@]}" | grep -E '\.(swift|c|h)$' | grep -v '^Package'); do
    [ -e "$file" ] || continue
    head -n 1 "$file" | grep -qE '^(//|/\*)' || { say "$file does not say in its first line what it owns"; wrong=1; }
  done
  return $wrong
}

shell_scripts() {
  shellcheck -x -P SCRIPTDIR -S warning scripts/*.sh .ci/run Tests/Systemd/* Tests/Install/* Tests/Package/* Tests/Fuzz/run \
    Tests/bench.d/* Tests/check.d/*
}

if swift format --version >/dev/null 2>&1; then
  check "swift format finds nothing" formatted
else
  say "  skipped swift format, which this toolchain lacks"
fi
check "no output promises more than a counter can" no_false_promise
check "nothing is left for later" no_unfinished_work
check "every file says what it owns" opens_with_a_sentence
if command -v shellcheck >/dev/null; then
  check "shell scripts are sound" shell_scripts
else
  say "  skipped shellcheck, which is not installed"
fi
printf '%s\n' "${sources[@]}" | grep -E '^(Sources|Tests)/.*\.(swift|c|h|py)$' | xargs -d '\n' wc -l 2>/dev/null |
  awk '$1 > 400 && $2 != "total" { print "  long    " $2 " has " $1 " lines" }'
finish
