#!/bin/bash
# Breaks one rule at a time, as the patches in Tests/Mutants say, and demands that the tests notice each.
#
# A patch opens with the rule in words and "Suite: TARGET", the tests that must fail. Give names of patches to try only those.
. "$(dirname "$0")/common.sh"
scripts/deps.sh build
need_swift
work=$PWD/.build/mutants
mkdir -p "$work"
seconds_limit=900

patches=()
if [ $# = 0 ]; then
  patches=(Tests/Mutants/*.patch)
else
  for name in "$@"; do patches+=("Tests/Mutants/${name%.patch}.patch"); done
fi
header() { sed -n "s/^$2: *//p; /^--- /q" "$1"; }
title() { sed -n '1p' "$1"; }

# The sources as they are, committed or not, and of the tests one suite alone: the others would be built for nothing.
prepare() { # SUITE
  tree=$work/$1
  mkdir -p "$tree"
  rm -rf "$tree/Sources" "$tree/Tests"
  git ls-files -z --cached --others --exclude-standard -- Sources Tests Package.swift |
    tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$tree"
  python3 - "$tree/Package.swift" "$1" <<'PYTHON'
import re, sys
path, suite = sys.argv[1:]
text = open(path).read()
def entries(text):
    for found in list(re.finditer(r'\n    \.(testTarget|executableTarget)\(', text))[::-1]:
        depth, end = 1, found.end()
        while depth:
            depth += {'(': 1, ')': -1}.get(text[end], 0)
            end += 1
        yield found, end
for found, end in entries(text):
    name = re.search(r'name:\s*"([^"]+)"', text[found.start():end]).group(1)
    if name not in (suite, 'iftallyd'):
        text = text[:found.start()] + text[end:].lstrip(',')
text = re.sub(r'\n    \.executable\(name: "iftally",[^\n]*', '', text)
open(path, 'w').write(text)
PYTHON
}

# run TREE LOG: builds and tests; 0 passed, 1 a test failed, 2 it did not build. The first failure ends the tests: to make
# the smallest of a random history that fails takes minutes.
run() {
  local tests code=0
  (cd "$1" && swift build --build-tests "${build_flags[@]}") >"$2" 2>&1 || return 2
  (cd "$1" && exec timeout $seconds_limit swift test --skip-build --disable-xctest "${build_flags[@]}") </dev/null >"$2" 2>&1 &
  tests=$!
  while kill -0 $tests 2>/dev/null; do
    # timeout leads a process group of its own.
    if grep -q '^✘ Test "' "$2"; then kill -- -$tests 2>/dev/null || true; break; fi
    sleep 0.5
  done
  wait $tests || code=1
  return $code
}

caught=0 survived=0 suite=
for patch in $(for p in "${patches[@]}"; do printf '%s\t%s\n' "$(header "$p" Suite)" "$p"; done | sort -s -k1,1 | cut -f2); do
  name=$(basename "$patch" .patch)
  log=$work/$name.log
  if [ "$suite" != "$(header "$patch" Suite)" ]; then
    suite=$(header "$patch" Suite)
    prepare "$suite"
    say "== $suite"
    run "$tree" "$work/$suite.log" || fail "The tests of $suite fail as they are: see $work/$suite.log"
  fi
  verdict=
  if ! patch -s -p1 -d "$tree" --no-backup-if-mismatch <"$patch" >"$log" 2>&1; then
    verdict="does not apply any more: make it fit the source"
  else
    code=0
    run "$tree" "$log" || code=$?
    case $code in
      0) verdict="SURVIVED" ;;
      1) verdict="caught by: $(sed -n '/^✘ Test "/{s/^✘ Test "\(.*\)" \(recorded\|failed\|with\) .*/\1/p;q}' "$log")" ;;
      2) verdict="does not build: see $log" ;;
    esac
    patch -s -R -p1 -d "$tree" --no-backup-if-mismatch <"$patch" >/dev/null
  fi
  case $verdict in
    caught*) caught=$((caught + 1)) ;;
    *) survived=$((survived + 1)) ;;
  esac
  printf '  %-24s %s\n    %s\n' "$name" "$(title "$patch")" "$verdict"
done
record $caught $survived 0
say "" "$caught caught, $survived not"
[ $survived = 0 ]
