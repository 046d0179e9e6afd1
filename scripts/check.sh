#!/bin/bash
# Runs lint, the tests and every part in Tests/check.d, prints each part's time, and fails at the end if one failed.
. "$(dirname "$0")/common.sh"
scripts/deps.sh check
rm -rf .build/check
mkdir -p .build/check

table=() passed=0 failed=0
run_part() { # TITLE COMMAND
  local results=.build/check/results code=0 started=$SECONDS good=0 bad=0 p f _
  say "" "==== $1"
  : >$results
  IFTALLY_RESULTS=$PWD/$results "$2" </dev/null || code=$?
  while read -r p f _; do good=$((good + p)) bad=$((bad + f)); done <$results
  # A part that counts nothing is one check; one that broke off has failed whatever it counted.
  if [ $code = 0 ]; then [ $good != 0 ] || good=1; else [ $bad != 0 ] || bad=1; fi
  passed=$((passed + good)) failed=$((failed + bad))
  table+=("$(printf '  %-44s %5d passed %4d failed %5d s' "$1" $good $bad $((SECONDS - started)))")
}

run_part "Lint" scripts/lint.sh
run_part "Tests" scripts/test.sh
for part in Tests/check.d/*; do
  [ -x "$part" ] || continue
  run_part "$(sed -n '/^#!/d; /^#/{s/^# *//p;q}' "$part")" "$part"
done

say "" "Summary"
printf '%s\n' "${table[@]}"
say "" "$passed passed, $failed failed" | tee .build/check/summary
[ $failed = 0 ]
