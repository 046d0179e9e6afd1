#!/bin/bash
# What can go wrong around a service: a frozen process, disks that are full or read-only, a store that is damaged, people
# who may not ask, sockets that were not asked for before; and that the sandbox bites where it should.
. "$(dirname "$0")/machine.sh"
state=/var/lib/iftally
store_says() { [ "$(ask /v1/status | field 'reply["store"]["state"]')" = "$1" ]; }
never() { ! "$@"; }

systemd-sysusers
check "systemctl start succeeds" systemctl start iftallyd
bridge work
push work 20
gives_status() { systemctl status iftallyd | grep -E 'Status: "[0-9]+ links, last sample 20.*, last commit 20.*, no warnings"'; }
check "systemctl status shows links, sample, commit and warnings" gives_status

# Who may ask: everybody by default, else as the socket unit says.
groupadd friends && useradd -M -G friends member
mkdir -p $units/iftallyd.socket.d
printf '[Socket]\nSocketMode=0660\nSocketGroup=friends\n' >$units/iftallyd.socket.d/closed.conf
systemctl daemon-reload
systemctl stop iftallyd
check "it starts with a socket for a group" systemctl start iftallyd
check "root is answered" answers
member() { setpriv --reuid=member --regid=member --init-groups "$@"; }
check "a member of the group is answered" member iftally interfaces
is_refused() { local code=0; stranger iftally 2>&1 || code=$?; [ $code = 4 ]; }
check "a stranger is refused with exit code 4" is_refused
finds_one_fault() { [ "$(stranger iftally doctor --json | field 'len([f for f in reply["findings"] if f["verdict"] == "failed"])')" = 1 ]; }
check "and doctor tells of it once" finds_one_fault
rm -r $units/iftallyd.socket.d
systemctl daemon-reload
systemctl stop iftallyd
systemctl start iftallyd

# What the sandbox takes away, tried from within.
within() { # the command runs where the daemon's files are
  nsenter -t "$(process)" -m -r "$@"
}
reads_only() { local folder; for folder in /usr /etc /var /var/lib /root; do if within touch $folder/x; then return 1; fi; done; }
check "inside the sandbox the system is read-only, for root too" reads_only
check "its own folders are not" within touch $state/x /run/iftally/x
rm -f $state/x /run/iftally/x
touch /root/secret
check "homes are hidden" never within ls /root/secret
hides_devices() { ls /dev/net/tun && within ls /dev/null && ! within ls /dev/net/tun; }
check "devices are hidden" hides_devices
sees_what_it_needs() { within cat /proc/sys/kernel/random/boot_id && within ls /sys/class/net/work/ifindex; }
check "boot id and facts of links are not" sees_what_it_needs
limits() { grep -Eq '^Seccomp:\s2$' "/proc/$(process)/status" && grep -Eq '^NoNewPrivs:\s1$' "/proc/$(process)/status"; }
check "system calls are filtered" limits
printf '[Api]\nTcp=127.0.0.1:8099\n' >/etc/iftally/iftally.conf
tcp_is_refused() { ! systemctl restart iftallyd && log_says 'Tcp\|127.0.0.1:8099'; }
check "the daemon itself can open no internet socket, and says so" tcp_is_refused
rm /etc/iftally/iftally.conf
check "without that it starts again" systemctl restart iftallyd

# Loopback TCP by a socket unit: no internet sockets for the daemon.
systemctl enable -q iftallyd-tcp.socket
check "it restarts with the socket unit for TCP" systemctl restart iftallyd
tcp() { curl -sS --max-time 10 "$@"; }
tcp_answers() { tcp http://127.0.0.1:8460/v1/interfaces | has_figures; }
check "and answers on loopback" tcp_answers
foreign() { [ "$(tcp -o /dev/null -w '%{http_code}' -H 'Host: evil.example' http://127.0.0.1:8460/v1/interfaces)" = 403 ]; }
check "but not under another name" foreign
printf '[Api]\nAllowedHosts=evil.example\n' >/etc/iftally/iftally.conf
check "a reload that allows the name is taken over" systemctl reload iftallyd
check "there, too" eventually never foreign
rm /etc/iftally/iftally.conf
before=$(process)
kill -KILL "$before"
check "killed, it comes back" eventually is_another_process "$before"
check "with TCP" eventually tcp_answers
systemctl stop iftallyd
is_closed() { ! tcp http://127.0.0.1:8460/ && sleep 0.5 && ! active; }
check "stopped, nobody answers there and nothing starts it" is_closed
systemctl disable -q iftallyd-tcp.socket
systemctl start iftallyd

# A process that hangs.
drop_in watchdog WatchdogSec=2s TimeoutAbortSec=1s
systemctl restart iftallyd
before=$(process)
stays() { sleep 5; [ "$(process)" = "$before" ]; }
check "a short watchdog lets a healthy daemon live" stays
push work 20
kill -STOP "$before"
check "a frozen one is killed and started again" eventually is_another_process "$before"
check "the journal tells why" log_says 'Watchdog timeout'
check "and nothing is lost" counted work
without_drop_ins
systemctl restart iftallyd

# A disk that is full: a small one of its own below the state directory.
full_disk() {
  systemctl stop iftallyd && mount -t tmpfs -o "size=2M,uid=$(id -u iftally),mode=750" tmpfs $state && systemctl start iftallyd
}
check "it starts on a small disk" full_disk
fill() { dd if=/dev/zero of=$state/ballast bs=64k 2>/dev/null || true; }
fill
bridge more
push more 20
check "a full disk is told of" eventually store_says failing
still_counts() { push more 20; answers && counted more; }
check "it goes on counting" still_counts
rm $state/ballast
change() { ip link set more down; ip link set more up; bridge other && ip link del other; store_says ok; }
check "with room again it commits" eventually change
totals_survive() { systemctl restart iftallyd && counted more; }
check "and what was counted meanwhile is in the store" totals_survive
systemctl stop iftallyd
umount $state
read_only() { mount --bind $state $state && mount -o remount,bind,ro $state; }
check "the state directory is read-only" read_only
check "it starts all the same" systemctl start iftallyd
check "counts in memory, and says so" store_says memory_only
check "and is not silent about it in systemctl status" bash -c "systemctl status iftallyd | grep store_memory_only"
systemctl stop iftallyd
umount $state

# A store that is damaged.
systemctl start iftallyd
systemctl stop iftallyd
damage() { local file; for file in $state/*.db; do dd if=/dev/urandom of="$file" bs=4096 count=4 conv=notrunc 2>/dev/null; done; rm -f $state/*-wal $state/*-shm; }
damage
check "with a damaged store it starts" systemctl start iftallyd
check "and begins a new one" store_says ok
check "the old one is set aside" bash -c "ls $state | grep '^iftally\.db\.corrupt-'"
check "the journal says so" log_says 'set aside'

# A state directory in another place, as iftallyd(8) tells it.
systemctl stop iftallyd
drop_in place StateDirectory= StateDirectory=elsewhere
check "a state directory in another place is used" bash -c "systemctl start iftallyd && ls /var/lib/elsewhere/*.db"
without_drop_ins

# The journal has fields of its own, and few lines.
has_fields() { journalctl -q -u iftallyd -o json --no-pager | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
own = [line for line in lines if line.get("_COMM") == "iftallyd"]
assert own and all(line.get("PRIORITY") for line in own)
assert {line.get("IFTALLY_CODE") for line in own} > {"started", "listening", "stopped"}, {k for line in own for k in line}'; }
check "the journal holds structured fields" has_fields
finish || { journalctl -q -u iftallyd -u iftallyd.socket --no-pager | tail -n 80; exit 1; }
