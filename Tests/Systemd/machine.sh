#!/bin/bash
# What the scripts in the booted machine share: asking the daemon, links with known bytes, and waiting.
. /opt/iftally-test/scripts/common.sh
# shellcheck disable=SC2034 # Of the scripts that read this file.
socket=/run/iftally/iftally.sock units=/etc/systemd/system
stranger() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
ask() { curl -sS --max-time 10 --unix-socket $socket "http://localhost$1"; }
# field EXPRESSION: printed, of the object `reply` on stdin.
field() { python3 -c "import json, sys; reply = json.load(sys.stdin); print($1)"; }
active() { systemctl is-active -q iftallyd; }
process() { systemctl show -P MainPID iftallyd; }
has_figures() { [ "$(field '[each["name"] for each in reply["interfaces"]].count("lo"), reply["nature"]')" = "1 estimate" ]; }
answers() { ask /v1/interfaces | has_figures; }
log_says() { # what the journal holds of the service so far
  local _
  for _ in {1..50}; do
    journalctl -q -u iftallyd --no-pager | grep -q -- "$1" && return
    sleep 0.1
  done
  journalctl -q -u iftallyd --no-pager
  return 1
}
# eventually COMMAND...: it succeeds within 15 s.
eventually() {
  local _
  for _ in {1..150}; do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
  "$@"
}
is_another_process() { active && [ "$(process)" != "$1" ] && answers; }
# drop_in NAME LINE...: lines of [Service], in force from the next start on.
drop_in() {
  mkdir -p $units/iftallyd.service.d
  printf '%s\n' '[Service]' "${@:2}" >"$units/iftallyd.service.d/$1.conf"
  systemctl daemon-reload
}
without_drop_ins() { rm -rf $units/iftallyd.service.d && systemctl daemon-reload; }

# Links say nothing by themselves, which a count of known bytes could not tell from what was pushed.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6

# push LINK FRAMES: frames of 1000 bytes leave through it.
push() {
  python3 - "$@" <<'PY'
import socket, sys
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind((sys.argv[1], 0x88b5))
for _ in range(int(sys.argv[2])):
    sender.send(b"\xff" * 6 + b"\x02" * 6 + b"\x88\xb5" + bytes(986))
PY
}
bridge() { ip link add "$1" type bridge && ip link set "$1" up; }
pair() { ip link add "$1" type veth peer name "$2" && ip link set "$1" up && ip link set "$2" up; }
# Both directions of the kernel's counters, 0 without the link.
shown() {
  local counters=/sys/class/net/$1/statistics
  if [ -d "$counters" ]; then echo $(($(cat "$counters/rx_bytes") + $(cat "$counters/tx_bytes"))); else echo 0; fi
}
# What the daemon tells of it: bytes of both directions, and how complete.
told() { ask "/v1/interfaces/$1" | field '(lambda t: "%d %s" % (t["rx_bytes"] + t["tx_bytes"], t["quality"]["completeness"]))(reply["interface"]["total"])'; }
truth=/run/truth
mkdir -p $truth
former() { cat "$truth/$1" 2>/dev/null || echo 0; }
# gone LINK...: these are deleted, and what they showed last is part of the truth of their names.
gone() {
  local link
  for link in "$@"; do echo $(($(former "$link") + $(shown "$link"))) >"$truth/$link.new" && mv "$truth/$link.new" "$truth/$link"; done
  ip link del "$1"
}
# counted LINK...: to the byte, with nothing unseen.
counted() {
  local link failed=0 before answer _
  for link in "$@"; do
    # Again where something of its own passed (a report of multicast groups) while the daemon was asked.
    for _ in {1..20}; do
      before=$(shown "$link")
      sleep 0.15
      answer=$(told "$link")
      [ "$(shown "$link")" != "$before" ] || break
    done
    if [[ $answer =~ ^"$(($(former "$link") + before)) "(complete|placed)$ ]]; then continue; fi
    say "$link: told $answer, true $(($(former "$link") + before))"
    failed=1
  done
  return $failed
}
events_are() { [ "$(ask /v1/status | field 'reply["source"]["events"]')" = "$1" ]; }
