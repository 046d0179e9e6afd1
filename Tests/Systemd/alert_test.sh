#!/bin/bash
# The service that runs a program for events: not there by itself, and through restarts of the daemon when it is wanted.
. "$(dirname "$0")/machine.sh"
told=/var/lib/iftally-alert/told
systemd-sysusers
check "systemctl start of the daemon succeeds" systemctl start iftallyd
is_disabled() { [ "$(systemctl is-enabled iftally-alert)" = disabled ]; }
check "the alerts are not enabled by themselves" is_disabled
stays_down() { systemctl start iftally-alert && [ "$(systemctl show -P ConditionResult iftally-alert)" = no ] && ! systemctl is-active -q iftally-alert; }
check "without a program they stay down, which is no failure" stays_down

mkdir -p /etc/iftally
cat >/etc/iftally/alert <<'PROGRAM'
#!/bin/sh
read -r json
echo "$IFTALLY_EVENT $IFTALLY_INTERFACE $IFTALLY_CHANGE$IFTALLY_REASON$IFTALLY_CODE $IFTALLY_STATE" >>"$STATE_DIRECTORY/told"
echo "$json" >>"$STATE_DIRECTORY/json"
touch /etc/iftally/touched /var/lib/iftally/touched 2>/dev/null
[ "$IFTALLY_INTERFACE" != fails ] || exit 3
PROGRAM
chmod 755 /etc/iftally/alert
alerts() { systemctl show -P MainPID iftally-alert; }
follows() { journalctl -q -u iftally-alert --no-pager | grep -q "$1"; }
was_told() { grep -qx -- "$1" $told; }
# A stream that is not open yet hears nothing of before.
link_is_told() { bridge "$1" && eventually was_told "link $1 came "; }

check "with a program they start" systemctl start iftally-alert
first_link() { local n; for n in 1 2 3 4 5 6 7 8 9; do bridge "early$n"; sleep 0.3; if grep -q "^link early$n came" $told 2>/dev/null; then return; fi; done; return 1; }
check "a link that comes is told" first_link
check "the next one too" link_is_told work
is_json() { python3 -c 'import json, sys; assert all(json.loads(line)["nature"] == "estimate" for line in open(sys.argv[1]))' /var/lib/iftally-alert/json; }
check "with its JSON on the standard input" is_json
ip link set work down && ip link set work name renamed
check "a new name is told" eventually was_told "link renamed renamed "
ip link del renamed
check "and an end" eventually was_told "link renamed went "
bridge fails
check "a program that fails is told of in the journal" eventually follows "ended with status 3"
check "and is no end" link_is_told later

before=$(alerts)
check "the daemon restarts" systemctl restart iftallyd
same_process() { [ "$(alerts)" = "$before" ] && [ "$before" != 0 ]; }
check "which they survive" same_process
check "they follow it again" eventually follows "following the daemon again"
check "and say what they could not hear" eventually was_told "missed  restarted "
check "the absence is told" eventually was_told "gap  not_running "
check "and links that come after it" link_is_told after

kill -KILL "$(process)"
check "a daemon that is killed comes back" eventually answers
check "and is followed" link_is_told again

systemctl stop iftallyd
sleep 3
stays_stopped() { ! active && same_process; }
check "a daemon that is stopped stays so, however they wait" stays_stopped
check "it starts again" systemctl start iftallyd
check "and is followed again" link_is_told last

is_confined() { [ "$(stat -c %U "/proc/$(alerts)")" != root ] && grep -Eq '^CapEff:\s0+$' "/proc/$(alerts)/status" && [ ! -e /etc/iftally/touched ] && [ ! -e /var/lib/iftally/touched ]; }
check "they have a user of their own, no capability, and may write nowhere else" is_confined
before=$(alerts)
kill -KILL "$before"
restarts() { systemctl is-active -q iftally-alert && [ "$(alerts)" != "$before" ] && [ "$(alerts)" != 0 ]; }
check "they are started again when they are killed" eventually restarts
finish || { journalctl -q -u iftallyd -u iftally-alert --no-pager | tail -n 60; exit 1; }
