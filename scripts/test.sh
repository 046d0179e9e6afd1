#!/bin/bash
# Builds everything with its tests, runs them all against the debug build, and sums up.
. "$(dirname "$0")/common.sh"
# In a chroot "/" is no mount, and neither iproute2 nor our tests can then make mounts of their own: bind it to one.
if [ "$(id -u)" = 0 ] && ! awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo; then
  exec unshare -m --propagation unchanged bash -c 'mount --rbind / /mnt && mount --make-rprivate /mnt && exec chroot /mnt "$0"' "$PWD/scripts/test.sh"
fi
scripts/deps.sh test
need_swift
mkdir -p .build/test

passed=0 failed=0 skipped=0
# count NAME PASSED FAILED SKIPPED SECONDS
count() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  summary+=("$(printf '  %-16s %5d passed %4d failed %4d skipped %5d s' "$@")")
}
summary=()

say "== Building"
SECONDS=0
swift build --build-tests "${build_flags[@]}"
built=$SECONDS

say "== Swift tests"
SECONDS=0
log=.build/test/swift.log
swift test --skip-build --disable-xctest "${build_flags[@]}" </dev/null 2>&1 | tee "$log" |
  grep -aE '^(✘|➜|↳)|^✔ Test run|error:|Fatal error|signal' && code=0 || code=${PIPESTATUS[0]}
lines() { grep -caE "$1" "$log" || true; }
ok=$(lines '^✔ Test [^ ].* passed after ')
ok=$((ok - $(lines '^✔ Test (run|case) .* passed after ')))
bad=$(lines '^✘ Test [^ ].* failed after ')
bad=$((bad - $(lines '^✘ Test (run|case) .* failed after ')))
# A crash has no closing line of its own.
if [ "$code" != 0 ] && [ $bad = 0 ]; then bad=1; fi
count swift $ok $bad "$(lines '^➜ Test .* skipped')" $SECONDS

export IFTALLY_BIN=$PWD/.build/debug
for folder in Tests/*/; do
  ls "$folder"test_*.py >/dev/null 2>&1 || continue
  name=$(basename "$folder")
  say "== $name"
  SECONDS=0
  log=.build/test/$name.log
  top=$folder
  [ ! -e "$folder/__init__.py" ] || top=Tests
  python3 -m unittest discover -v -s "$folder" -t "$top" </dev/null 2>&1 | tee "$log" |
    grep -aEv ' \.\.\. ok$|^$' && code=0 || code=${PIPESTATUS[0]}
  ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in .*/\1/p' "$log")
  amount() { sed -n "s/^\(OK\|FAILED\) (.*\b$1=\([0-9]*\).*/\2/p" "$log" | grep . || echo 0; }
  lost=$(($(amount failures) + $(amount errors)))
  passed_over=$(amount skipped)
  if [ "$code" != 0 ] && [ $lost = 0 ]; then lost=1; fi
  ok=$((${ran:-0} - lost - passed_over))
  count "$name" $((ok > 0 ? ok : 0)) $lost "$passed_over" $SECONDS
done

say "" "Built in $built s."
printf '%s\n' "${summary[@]}"
if [ $skipped != 0 ]; then
  grep -ahE "^➜ Test .* skipped|\.\.\. skipped" .build/test/*.log | sort | uniq | sed 's/^/  SKIPPED: /' || true
  [ "$(id -u)" = 0 ] || say "  The kernel's side was not tested: run make test as root."
  if [ "${CI:-}" = true ]; then
    say "  With CI=true nothing may be skipped."
    failed=$((failed + skipped)) skipped=0
  fi
fi
record $passed $failed $skipped
say "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
