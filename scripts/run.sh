#!/bin/bash
# Builds and runs everything from the source folder: the daemon on the real interfaces with its store in .build/run,
# the live table, and the page on loopback. Ctrl-C ends all of it. RUN_SECONDS=N ends it after N seconds.
. "$(dirname "$0")/common.sh"

# In a process group of its own, so that Ctrl-C reaches this script and not make, which would call it an error.
if [ -z "${IFTALLY_RUN_INNER:-}" ] && [ -t 0 ]; then
  set -m
  IFTALLY_RUN_INNER=1 setpriv --pdeathsig TERM bash "$0"
  exit
fi

scripts/deps.sh build
need_swift
scripts/release.sh
programs=$PWD/.build/release

folder=$PWD/.build/run
mkdir -p "$folder/store"
sockets=$folder
# A Unix socket's path holds 107 bytes.
if [ ${#folder} -gt 90 ]; then sockets=$(mktemp -d "${TMPDIR:-/tmp}/iftally-run.XXXXXX"); fi
export IFTALLY_SOCKET=$sockets/iftally.sock

daemon='' live=''
stop() {
  trap '' INT TERM HUP
  local process
  for process in $live $daemon; do kill -TERM "$process" 2>/dev/null || true; done
  for process in $live $daemon; do wait "$process" 2>/dev/null || true; done
  if [ "$sockets" != "$folder" ]; then rm -rf "$sockets"; fi
}
trap stop EXIT
trap 'exit 0' INT TERM HUP

daemon_died() {
  daemon=''
  echo "The daemon ended. Its last words:" >&2
  tail -n 20 "$folder/log" >&2
  exit 1
}

port=8460
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
cat >"$folder/iftally.conf" <<CONF
# Written by make run.
[Store]
Directory=$folder/store
[Api]
Socket=$IFTALLY_SOCKET
Tcp=127.0.0.1:$port
CONF

# In a session of its own, so that Ctrl-C does not reach it. Should this script be killed, both are told.
setsid setpriv --pdeathsig TERM "$programs/iftallyd" --config "$folder/iftally.conf" >"$folder/log" 2>&1 &
daemon=$!
for ((tries = 0; ; tries++)); do
  kill -0 $daemon 2>/dev/null || daemon_died
  "$programs/iftally" interfaces >/dev/null 2>&1 && break
  [ $tries -lt 300 ] || { cat "$folder/log" >&2; fail "The daemon gave no figures within 30 s."; }
  sleep 0.1
done

say "" "The page: http://127.0.0.1:$port/    More: IFTALLY_SOCKET=$IFTALLY_SOCKET $programs/iftally    End: Ctrl-C" ""
setpriv --pdeathsig TERM "$programs/iftally" live <&0 &
live=$!
timer=''
if [ -n "${RUN_SECONDS:-}" ]; then
  sleep "$RUN_SECONDS" &
  timer=$!
fi
# Whatever ends first ends all.
wait -n $daemon $live $timer || true
[ -z "$timer" ] || kill $timer 2>/dev/null || true
kill -0 $daemon 2>/dev/null || daemon_died
