#!/bin/bash
# Keeping a service well: what doctor finds around it, backups and who may make them, a history put back and moved.
. "$(dirname "$0")/machine.sh"
state=/var/lib/iftally
systemd-sysusers
useradd -M -G iftally member
member() { setpriv --reuid=member --regid=member --init-groups "$@"; }
check "systemctl start succeeds" systemctl start iftallyd

# finds CHECK VERDICT [WORDS]: what doctor says of it.
finds() {
  iftally doctor --json | python3 -c '
import json, sys
check, verdict, words = sys.argv[1:]
findings = {each["check"]: each for each in json.load(sys.stdin)["findings"]}
told = findings.get(check, {})
sys.exit(0 if told.get("verdict") == verdict and words in told["detail"] + told.get("remedy", "") else f"{check}: {told}")' "$1" "$2" "${3:-}"
}
is_well() {
  local name
  for name in service "event socket" "unit files" "TCP socket" alerts store integrity room group; do finds "$name" ok || return; done
  finds sandbox ok "as it comes" && finds "event socket" ok inherited
}
check "doctor finds a service as it comes well" is_well
check "and has nothing that failed, for a stranger too" stranger iftally doctor
shows_process() { iftally status --verbose | grep -E "process +$(process), run by systemd" && iftally status --verbose | grep -E "listening on +iftallyd.socket"; }
check "status --verbose tells of the process" shows_process
drop_in loose ProtectSystem=no NoNewPrivileges=no CapabilityBoundingSet=CAP_NET_ADMIN
check "doctor names what a drop-in loosens" finds sandbox warning 'looser than the daemon needs: NoNewPrivileges=no, ProtectSystem=no, CapabilityBoundingSet=cap_net_admin'
drop_in loose RestrictAddressFamilies= RestrictAddressFamilies=AF_UNIX
check "and what one takes away" finds sandbox warning 'takes away what counting needs: RestrictAddressFamilies=AF_UNIX'
systemctl restart iftallyd
check "a daemon that may not use netlink is told of" finds source warning AF_NETLINK
drop_in loose CapabilityBoundingSet=CAP_NET_BROADCAST AmbientCapabilities=CAP_NET_BROADCAST
check "the capability of the manual is well" finds sandbox ok loose.conf
printf '[Service]\n' >$units/iftallyd.service.d/late.conf
check "a unit file that systemd has not read is told of" finds "unit files" warning daemon-reload
without_drop_ins
systemctl enable -q iftallyd-tcp.socket
check "a TCP socket that is enabled and does not listen is told of" finds "TCP socket" warning 'does not listen'
systemctl restart iftallyd
check "and one that listens is well" finds "TCP socket" ok 127.0.0.1:8460
systemctl disable -q iftallyd-tcp.socket
systemctl restart iftallyd
systemctl enable -q iftally-alert
check "alerts that are enabled without a program are told of" finds alerts warning 'no program at /etc/iftally/alert'
mkdir -p /etc/iftally && printf '#!/bin/sh\n' >/etc/iftally/alert && chmod 755 /etc/iftally/alert
systemctl start iftally-alert
check "and ones that run are well" finds alerts ok 'iftally-alert.service runs'
systemctl disable -q --now iftally-alert

bridge work
push work 20
backup=/root/history.db
check "root makes a backup inside the sandbox's limits" iftally backup $backup
members_backup() { install -d -o member /run/member && member iftally backup /run/member/; }
check "a member of the group does" members_backup
is_refused() { local code=0; stranger iftally backup /tmp/stranger.db || code=$?; [ $code = 4 ] && [ ! -e /tmp/stranger.db ]; }
check "a stranger is refused with exit code 4" is_refused
leaves_nothing() { [ "$(ls $state)" = "$(printf '%s\n' iftally.db iftally.db-wal iftally.lock)" ]; }
check "nothing of it is left in the daemon's folder" leaves_nothing
push work 30
bridge later
push later 10
check "what passed is counted" counted work later
while_running() { local code=0; iftally restore $backup || code=$?; [ $code = 1 ]; }
check "a restore is refused while the daemon runs" while_running
systemctl stop iftallyd
push work 5
check "it is done when it is stopped" iftally restore $backup
owned() { [ "$(stat -c %U:%G:%a $state/iftally.db $state/iftally.lock | sort -u)" = iftally:iftally:640 ] && ls $state/iftally.db.replaced-*; }
check "the file is the daemon's user's, and the old one is kept" owned
check "it starts" systemctl start iftallyd
check "what passed since the backup is counted once" counted work later
store_is_ok() { [ "$(ask /v1/status | field 'reply["store"]["state"]')" = ok ]; }
check "into the restored store" store_is_ok
check "the replaced one can be taken back" bash -c "systemctl stop iftallyd && iftally restore $state/iftally.db.replaced-* && systemctl start iftallyd"
check "with everything once" counted work later

# A daemon that is killed starts again by itself, and a restore in between meets a queue that is kept for the other store.
push work 3
iftally backup $backup --force >/dev/null
push work 4
bridge brief
push brief 6
ask /v1/interfaces >/dev/null
drop_in slow RestartSec=5s
kill -KILL "$(process)"
sleep 0.5
gone brief
check "a restore while systemd waits to start it again" iftally restore $backup
check "it comes back" eventually answers
check "and doubles nothing" counted work later
not_above() { local answer; answer=$(told brief 2>/dev/null) || return 0; [ "${answer% *}" -le "$(former brief)" ]; }
check "nor what the queue of the other store held" not_above
without_drop_ins

# Another folder below /var/lib, by the drop-in of iftallyd(8).
iftally backup $backup --force >/dev/null
systemctl stop iftallyd
drop_in place StateDirectory= StateDirectory=elsewhere
check "it starts with a state directory in another place" systemctl start iftallyd
systemctl stop iftallyd
push work 7
check "the history is moved there" iftally restore $backup --directory /var/lib/elsewhere
check "and it goes on" systemctl start iftallyd
check "with all its bytes" counted work later
is_elsewhere() { [ "$(ask /v1/status | field 'reply["store"]["path"]')" = /var/lib/elsewhere/iftally.db ]; }
check "in that place" is_elsewhere
check "which doctor finds tight" finds sandbox ok place.conf

# Another disk, by the configuration.
install -d -o iftally -g iftally -m 750 /srv/iftally
iftally backup $backup --force >/dev/null
systemctl stop iftallyd
drop_in place ReadWritePaths=/srv/iftally
printf '[Store]\nDirectory=/srv/iftally\n' >/etc/iftally/iftally.conf
push work 8
check "a restore finds the folder that is configured" iftally restore $backup
check "it starts there" systemctl start iftallyd
check "with all its bytes" counted work later
is_configured() { [ "$(ask /v1/status | field 'reply["store"]["path"]')" = /srv/iftally/iftally.db ]; }
check "in that place" is_configured
finish || { journalctl -q -u iftallyd -u iftallyd.socket --no-pager | tail -n 60; exit 1; }
