#!/bin/bash
# The installed service under this machine's own systemd, booted in namespaces over what `make install` lays out.
# The first half runs here; the second, from "inside" on, in the booted machine.
. "$(dirname "$0")/../../scripts/common.sh"
tests=Tests/Systemd

if [ "${1:-}" != inside ]; then
  exits_with() { local code=0; $tests/boot "$1" "${@:3}" || code=$?; [ $code = "$2" ] || { say "exit code $code"; return 1; }; }
  layer=$(mktemp -d)
  trap 'rm -rf "$layer"' EXIT
  echo 'exit "$1"' >"$layer/exit.sh"
  echo 'kill -KILL $$' >"$layer/dies.sh"
  echo 'sleep 60' >"$layer/sleeps.sh"
  check "the booted machine hands a script's success back" exits_with "$layer/exit.sh" 0 0
  check "and its failure" exits_with "$layer/exit.sh" 7 7
  check "a script that is killed is a failure" bash -c "! $tests/boot '$layer/dies.sh'"
  check "a script that hangs is ended" bash -c "$tests/boot -t 3 '$layer/sleeps.sh'; [ \$? = 124 ]"
  rm "$layer"/*.sh

  check "make install lays the service out" env DESTDIR="$layer" PREFIX=/usr scripts/install.sh install
  [ -x "$layer/usr/sbin/iftallyd" ] || finish
  units=$layer/usr/lib/systemd/system
  exposure() {
    local words
    words=$(systemd-analyze security --offline=yes --threshold=12 "$units/iftallyd.service" 2>&1) || { say "$words"; return 1; }
    grep -o 'Overall exposure level.*' <<<"$words" >"$layer/exposure"
  }
  # The source is found again below the root of the booted machine, wherever it is mounted here.
  mkdir -p "$layer/opt/iftally-test/$tests" "$layer/opt/iftally-test/scripts"
  cp $tests/*.sh "$layer/opt/iftally-test/$tests/"
  cp scripts/common.sh "$layer/opt/iftally-test/scripts/"

  check "the sandbox exposes no more than 1.2 of 10" exposure
  [ ! -e "$layer/exposure" ] || sed 's/^/          /' "$layer/exposure"
  for script in ${IFTALLY_SYSTEMD_TESTS:-service continuity trouble upkeep alert}; do
    say "== $script"
    echo "exec /opt/iftally-test/$tests/${script}_test.sh inside" >"$layer/run.sh"
    code=0
    $tests/boot -l "$layer" -t 240 "$layer/run.sh" | tee "$layer/words" || code=$?
    counted=$(sed -n 's/^  \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$layer/words")
    if [ -n "$counted" ]; then
      checks_passed=$((checks_passed + ${counted% *})) checks_failed=$((checks_failed + ${counted#* }))
    else
      check "the booted machine reaches the end of its checks (exit code $code)" false
    fi
  done
  finish
  exit
fi

. "$(dirname "$0")/machine.sh"
traffic() { local i; for i in {1..200}; do echo "$i of some packets" >/dev/udp/127.0.0.1/9; done 2>/dev/null || true; }
counter() { cat /sys/class/net/lo/statistics/rx_bytes; }
# A figure may be a tenth of a second old.
total() { sleep 0.15; ask /v1/interfaces/lo | field 'reply["interface"]["total"]["rx_bytes"]'; }
# What was counted since the first look equals what the kernel's counter grew by.
agrees() {
  local told seen
  told=$(total) seen=$(counter)
  [ $((told - told_first)) = $((seen - seen_first)) ] || { say "told $((told - told_first)), counter grew by $((seen - seen_first))"; return 1; }
}

check "the user and group of the service are made" systemd-sysusers
check "systemd finds nothing to say about the units" bash -c '
  words=$(systemd-analyze verify --man=no iftallyd.service iftallyd.socket iftallyd-links.socket iftallyd-tcp.socket 2>&1); [ -z "$words" ] || { echo "$words"; exit 1; }'
check "systemctl start succeeds" systemctl start iftallyd
has_figures() { [ "$(field '[each["name"] for each in reply["interfaces"]].count("lo"), reply["nature"]')" = "1 estimate" ]; }
answers() { ask /v1/interfaces | has_figures; }
answers_strangers() { stranger curl -sS --unix-socket $socket http://localhost/v1/interfaces | has_figures; }
check "it returns after the first sample: the very next question is answered with figures" answers
check "strangers may ask too" answers_strangers
store_is_closed() { [ -d /var/lib/iftally ] && ! stranger ls /var/lib/iftally/ 2>/dev/null; }
check "but do not see the store" store_is_closed
runs_unprivileged() {
  [ "$(stat -c %U "/proc/$(process)")" = iftally ] && grep -Eq '^CapEff:\s0+$' "/proc/$(process)/status" &&
    grep -Eq '^CapBnd:\s0+$' "/proc/$(process)/status" && grep -Eq '^NoNewPrivs:\s1$' "/proc/$(process)/status"
}
check "the daemon is the user iftally, without a capability" runs_unprivileged
socket_mode() { [ "$(stat -c %a $socket)" = 666 ]; }
check "the socket is open to all" socket_mode
summary() { stranger iftally | tee /dev/stderr | grep -q lo; }
check "iftally shows the summary to a stranger" summary
status_is_well() { ask /v1/status | field 'reply["store"]["state"], reply["store"]' | grep '^ok ' ; }
check "the store works inside the sandbox" status_is_well

traffic
told_first=$(total || echo 0) seen_first=$(counter)
traffic
check "traffic is counted to the byte" agrees

before=$(process)
mkdir -p /etc/iftally
printf '[Api]\nAllowedHosts=router.lan\n' >/etc/iftally/iftally.conf
reload_keeps_running() { systemctl reload iftallyd && sleep 0.5 && active && [ "$(process)" = "$before" ]; }
check "a reload keeps the process" reload_keeps_running
printf '[Api]\nSokcet=/x\n' >/etc/iftally/iftally.conf
check "a reload of a bad file keeps it too" reload_keeps_running
check "and the journal names file and line" log_says '/etc/iftally/iftally.conf:2: unknown key Sokcet='
check "and it still answers" answers
rm -f /etc/iftally/iftally.conf

check "systemctl stop succeeds" systemctl stop iftallyd
is_stopped() { ! active && ! systemctl is-active -q iftallyd.socket && [ ! -e $socket ]; }
check "then daemon and socket are gone" is_stopped
unreachable() { local code=0; iftally || code=$?; [ $code = 3 ]; }
check "and iftally says so with exit code 3" unreachable
is_still_stopped() { sleep 0.5; is_stopped; }
check "nothing starts it again" is_still_stopped
traffic
check "it starts again" systemctl start iftallyd
check "with the old totals, and what passed in between" agrees
traffic
kill -KILL "$(process)"
# Restart= brings it back; the socket of that time is waited for by the question itself.
is_back() { local _; for _ in {1..150}; do active && answers 2>/dev/null && return; sleep 0.1; done; systemctl status iftallyd; return 1; }
check "killed, it comes back by itself" is_back
check "without a byte lost or doubled" agrees
check "restart succeeds" systemctl restart iftallyd
check "and loses nothing" agrees
peer_events() { ask /v1/status | field 'reply["source"]["peer_events"]'; }
check "the ends of veths in other namespaces are not heard" test "$(peer_events)" = False
# These lines are those of iftallyd(8).
mkdir -p /etc/systemd/system/iftallyd.service.d
printf '[Service]\nCapabilityBoundingSet=CAP_NET_BROADCAST\nAmbientCapabilities=CAP_NET_BROADCAST\n' \
  >/etc/systemd/system/iftallyd.service.d/peers.conf
restarts_anew() { systemctl daemon-reload && systemctl restart iftallyd; }
check "it restarts with the one capability for that" restarts_anew
has_one_capability() { [ "$(stat -c %U "/proc/$(process)")" = iftally ] && grep -Eq '^CapEff:\s0+800$' "/proc/$(process)/status"; }
check "which is all that it has" has_one_capability
check "and hears them" test "$(peer_events)" = True
tail_is_told() {
  ip netns add peers && ip link add veth1 type veth peer name far netns peers || return
  ip link set veth1 up && ip -n peers address add 192.0.2.1/24 dev far && ip -n peers link set far up
  ip -n peers neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev far
  ask /v1/interfaces >/dev/null
  ip netns exec peers python3 -c '
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3): sender.sendto(bytes(1000), ("192.0.2.2", 9))'
  seen=$(cat /sys/class/net/veth1/statistics/rx_bytes)
  ip link del veth1
  ip netns del peers
  told=$(ask /v1/interfaces/veth1 | field 'reply["interface"]["total"]["rx_bytes"]')
  [ "$seen" -ge 3000 ] && [ "$told" = "$seen" ] || { say "told $told of $seen"; return 1; }
}
check "what a veth received last from another namespace is counted" tail_is_told
rm -r /etc/systemd/system/iftallyd.service.d
systemctl daemon-reload

systemctl stop iftallyd
systemctl start iftallyd.socket
check "a question to the socket alone starts it" answers
check "the journal holds its words" log_says .
never_complained() { ! journalctl -q -u iftallyd --no-pager | grep -iE 'operation not permitted|bad system call|watchdog'; }
check "the sandbox was never in its way" never_complained
finish || { journalctl -q -u iftallyd -u iftallyd.socket --no-pager | tail -n 40; exit 1; }
