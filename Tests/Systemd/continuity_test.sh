#!/bin/bash
# No byte is lost across a kill, a restart and a second kill, whatever links do meanwhile; and a stop stays a stop.
. "$(dirname "$0")/machine.sh"

# The daemon is away for long enough to have all of this happen.
drop_in slow ExecStartPre=/bin/sleep\ 3 RestartSec=100ms
systemctl daemon-reload
systemd-sysusers
check "systemctl start succeeds" systemctl start iftallyd
check "the link events are inherited from systemd" events_are "inherited from systemd"
kept() { [ "$(systemctl show -P NFileDescriptorStore iftallyd)" = 2 ]; }
check "which keeps the queue and the note beside it for the next process" kept
buffer() { [ "$(ask /v1/status | field 'reply["source"]["receive_buffer_bytes"] == 64 << 20')" = True ]; }
check "with the buffer that the socket unit asks for" buffer

# Links of each round bear its number: deleted, made anew, renamed, made and deleted, living on.
prepare() {
  bridge "dead$1" && bridge "anew$1" && bridge "old$1" && bridge "lives$1" && pair "va$1" "vb$1" || return
  local link
  for link in "dead$1" "anew$1" "old$1" "lives$1" "va$1" "vb$1"; do push "$link" 20; done
  # Their birth is committed within a second.
  sleep 1.5
  ask /v1/interfaces >/dev/null
}
happen() {
  local link
  for link in "dead$1" "anew$1" "old$1" "lives$1" "va$1" "vb$1"; do push "$link" 50; done
  gone "dead$1"
  gone "va$1" "vb$1"
  gone "anew$1"
  bridge "anew$1"
  push "anew$1" 7
  ip link set "old$1" down && ip link set "old$1" name "new$1" && ip link set "new$1" up
  push "new$1" 5
  bridge "short$1"
  push "short$1" 9
  gone "short$1"
  # Where the daemon was there in all of this, nothing was proven.
  [ "$(systemctl show -P SubState iftallyd)" != running ]
}
all_counted() { counted "dead$1" "anew$1" "new$1" "lives$1" "va$1" "vb$1" "short$1"; }
no_loss() { [ "$(ask /v1/status | field '[gap for gap in reply["gaps"] if gap["lossy"]]')" = "[]" ]; }

round=0
# Before the first kill the socket unit and the store of descriptors hold the same queue, afterwards two.
for end in "restart" "kill -9" "restart after it" "kill -9 again"; do
  round=$((round + 1))
  check "$end: links are made before" prepare $round
  before=$(process)
  case $end in
    restart*) systemctl --no-block restart iftallyd ;;
    *) kill -KILL "$before" ;;
  esac
  away() { [ "$(process)" != "$before" ]; }
  check "$end: the daemon goes" eventually away
  check "$end: links end, are made anew and renamed while it is away" happen $round
  check "$end: it comes back by itself" eventually is_another_process "$before"
  check "$end: not a byte is lost or doubled, nor called unseen" all_counted $round
  check "$end: no gap says that bytes may have gone unseen" no_loss
  check "$end: the queue is the one that was kept" kept
done
no_second_queue() { ! journalctl -q -u iftallyd --no-pager | grep -E 'events_own|another network namespace'; }
check "the kept queue was always taken" no_second_queue

check "systemctl stop succeeds" systemctl stop iftallyd
bridge later
push later 30
gone later
is_stopped() { ! active && ! systemctl is-active -q iftallyd.socket && ! systemctl is-active -q iftallyd-links.socket; }
stays_stopped() { sleep 1; bridge more && ip link del more; sleep 1; is_stopped; }
check "it stays stopped while links come and go" stays_stopped
check "and starts again" systemctl start iftallyd
same_bytes() {
  local link
  for link in dead1 anew1 va1 vb1 new4; do
    [ "$(told $link | cut -d" " -f1)" = $(($(former $link) + $(shown $link))) ] || { told $link; return 1; }
  done
}
check "with the old totals" same_bytes
is_a_gap() { [ "$(ask /v1/status | field 'reply["gaps"][-1]["lossy"]')" = True ]; }
check "what ended meanwhile nobody heard of, and the gap says so" is_a_gap

# A unit that uses the network and sends until its end.
mkdir $units/network.target.d
printf '[Unit]\nRefuseManualStart=no\nRefuseManualStop=no\n' >$units/network.target.d/manual.conf
cat >$units/talker.service <<'UNIT'
[Unit]
After=network.target
[Service]
ExecStart=/bin/sleep infinity
ExecStop=/bin/sleep 1
UNIT
systemctl daemon-reload
systemctl start network.target talker.service
systemctl stop iftallyd.service network.target talker.service
instant() { systemctl show -P "$2" "$1"; }
outlives() { [ "$(instant talker InactiveEnterTimestampMonotonic)" -le "$(instant iftallyd ActiveExitTimestampMonotonic)" ]; }
check "at a shutdown it ends after what uses the network" outlives
without_drop_ins
finish || { journalctl -q -u iftallyd -u iftallyd.socket -u iftallyd-links.socket --no-pager | tail -n 60; exit 1; }
