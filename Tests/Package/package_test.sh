#!/bin/bash
# The Debian package: built, looked at, and installed, upgraded, removed and purged with apt in a small Debian of its own
# under a systemd of its own. The first half runs here; the second, from "inside" on, in the booted machine.
. "$(dirname "$0")/../../scripts/common.sh"
tests=Tests/Package

if [ "${1:-}" != inside ]; then
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
  version=$(sed -n 's/.*iftallyVersion = "\(.*\)"/\1/p' Sources/TallyWire/Version.swift)
  later=$version+later
  build_later() { IFTALLY_DEB_VERSION=$later scripts/deb.sh && cp .build/deb/iftally_*.deb "$work/later.deb"; }
  check "a later package is built" build_later
  # Last, so that this is the package that stays in .build/deb.
  build() { make deb && cp .build/deb/iftally_*.deb "$work/first.deb"; }
  check "make deb builds the package" build
  package=$(ls "$PWD/.build/deb/iftally_${version}_"*.deb) || finish || exit
  builds_the_same() { make deb && cmp "$package" "$work/first.deb"; }
  check "and builds the same bytes again" builds_the_same
  built_with_its_version() { .build/release/iftally version | grep -qx "iftally $(dpkg-deb -f "$package" Version)"; }
  check "its version is what the program says" built_with_its_version

  code=0
  lintian --no-cfg --allow-root --fail-on error,warning "${package%.deb}.changes" >"$work/lintian" 2>&1 || code=$?
  check "lintian finds neither errors nor warnings" bash -c "cat '$work/lintian'; [ $code = 0 ]"
  dpkg-deb --fsys-tarfile "$package" | tar -t >"$work/content"
  # Where the file system keeps /lib apart, and how documents are compressed, is the package's affair alone.
  in_package() {
    sed -E '/\/$/d; s,^\./lib/,./usr/lib/,; s,(/man/.*)\.gz$,\1,; /^\.\/usr\/share\/(doc|lintian)\//d' "$work/content" | sort
  }
  by_make_install() { (cd "$work/installed" && find . ! -type d | sort); }
  same_files() {
    DESTDIR=$work/installed PREFIX=/usr make install && diff <(by_make_install) <(in_package)
  }
  check "it brings the files of make install, and no other" same_files
  has_documents() { [ "$(grep -cE '^\./usr/share/doc/iftally/(changelog\.gz|copyright)$' "$work/content")" = 2 ]; }
  check "it brings changelog and copyright" has_documents
  is_conffile() { [ "$(dpkg-deb --info "$package" conffiles)" = /etc/iftally/iftally.conf ]; }
  check "the configuration is its conffile" is_conffile
  needs_the_libraries() {
    local library depends
    depends=$(dpkg-deb -f "$package" Depends)
    say "$depends"
    for library in libc6 libnl-3-200 libsqlite3-0 libmicrohttpd12 libinih1 libsystemd0; do
      # Since the 64-bit time_t of Debian 13 some names end in t64.
      grep -qE "(^|, )$library(t64)?( |,|$)" <<<"$depends" || return 1
    done
    ! grep -i swift <<<"$depends"
  }
  check "it depends on its C libraries and on no Swift" needs_the_libraries
  say "          $(basename "$package"): $(($(stat -c %s "$package") / 1024)) KiB, $(dpkg-deb -f "$package" Installed-Size) KiB installed"

  if [ "$(id -u)" != 0 ]; then
    say "  SKIPPED: installing, upgrading and removing it needs root"
    [ "${CI:-}" != true ] || check "with CI=true nothing may be skipped" false
    finish
    exit
  fi

  # A Debian of this machine's release, from where this machine gets its packages. What the package depends on is
  # fetched but not installed: the booted machine has no network.
  sources() {
    # shellcheck disable=SC2016 # The names are apt's.
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' | sort -u
  }
  make_root() {
    local suite
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # Without package lists apt does not know whose origin is Debian.
    [ -n "$(sources)" ] || apt-get -qq update
    sources >"$work/sources"
    # shellcheck disable=SC2016 # The name is mmdebstrap's.
    mmdebstrap --quiet --variant=minbase --mode=root --include=systemd,dbus,iproute2 --skip=cleanup/apt \
      --customize-hook="copy-in '$package' /root" \
      --customize-hook='chroot "$1" sh -c "apt-get -qq --download-only --no-install-recommends install /root/*.deb"' \
      "$suite" "$work/root" "$work/sources"
  }
  check "a small Debian is made, and what the package depends on is found" make_root
  if [ -d "$work/root/opt" ]; then
    rm "$work/root/root/"*.deb
    mkdir -p "$work/root/opt/iftally-test/"{$tests,scripts,packages}
    cp $tests/package_test.sh "$work/root/opt/iftally-test/$tests/"
    cp scripts/common.sh "$work/root/opt/iftally-test/scripts/"
    cp "$work/first.deb" "$work/later.deb" "$work/root/opt/iftally-test/packages/"
    echo "exec /opt/iftally-test/$tests/package_test.sh inside $version $later" >"$work/run.sh"
    code=0
    Tests/Systemd/boot -r "$work/root" -t 120 "$work/run.sh" | tee "$work/words" || code=$?
    counted=$(sed -n 's/^  \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$work/words")
    if [ -n "$counted" ]; then
      checks_passed=$((checks_passed + ${counted% *})) checks_failed=$((checks_failed + ${counted#* }))
    else
      check "the booted machine reaches the end of its checks (exit code $code)" false
    fi
  fi
  finish
  exit
fi

version=$2 later=$3
packages=$PWD/packages
apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@" </dev/null; }
stranger() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
active() { systemctl is-active -q iftallyd.service && systemctl is-active -q iftallyd.socket && systemctl is-active -q iftallyd-links.socket; }
enabled() { [ "$(systemctl is-enabled iftallyd.service iftallyd.socket iftallyd-links.socket iftallyd-tcp.socket iftally-alert.service | xargs)" = "enabled enabled enabled disabled disabled" ]; }
process() { systemctl show -P MainPID iftallyd; }
traffic() { local i; for i in {1..200}; do echo "$i of some packets" >/dev/udp/127.0.0.1/9; done 2>/dev/null || true; }
counter() { cat /sys/class/net/lo/statistics/rx_bytes; }
# A figure may be a tenth of a second old.
total() {
  sleep 0.15
  iftally interfaces -i lo --json | sed -nE 's/.*"total":\{"quality":\{[^}]*\},"rx_bytes":([0-9]+),.*/\1/p'
}
# What was counted since the first look equals what the kernel's counter grew by.
agrees() {
  local told seen
  told=$(total) seen=$(counter)
  [ $((told - told_first)) = $((seen - seen_first)) ] || { say "told $((told - told_first)), counter grew by $((seen - seen_first))"; return 1; }
}
has_version() { [ "$(dpkg-query -W -f '${Version} ${db:Status-Status}' iftally)" = "$1 installed" ]; }

check "apt installs it with what it depends on" apt_get install "$packages/first.deb"
check "this version is then installed" has_version "$version"
[ "$checks_failed" = 0 ] || finish || exit
check "daemon and socket run at once" active
check "and are enabled for the next boot" enabled
check "a stranger is answered through the socket" stranger iftally interfaces -i lo
runs_unprivileged() { [ "$(stat -c %U "/proc/$(process)")" = iftally ]; }
check "the daemon is the user iftally" runs_unprivileged
check "the configuration that it brings is valid" iftallyd --check-config
traffic
told_first=$(total || echo 0) seen_first=$(counter)
traffic
check "traffic is counted to the byte" agrees

printf '[Api]\nAllowedHosts=router.lan\n' >>/etc/iftally/iftally.conf
before=$(process)
traffic
# A link that ends between the two daemons, for which the later one takes its time.
mkdir -p /run/systemd/system/iftallyd.service.d
printf '[Service]\nExecStartPre=/bin/sleep 3\n' >/run/systemd/system/iftallyd.service.d/slow.conf
systemctl daemon-reload
send() { local i; for i in {1..50}; do echo "$i of some packets" >/dev/udp/192.0.2.9/9; done; }
make_link() {
  ip link add passing type bridge && ip link set passing up && ip address add 192.0.2.1/24 dev passing &&
    ip neighbour add 192.0.2.9 lladdr 02:00:00:00:00:09 dev passing && send && sleep 1.5
}
check "a link is made and used" make_link
upgrade_meanwhile() {
  apt_get install "$packages/later.deb" &
  while [ "$(process)" = "$before" ]; do sleep 0.1; done
  send
  [ "$(systemctl show -P SubState iftallyd)" != running ] && cat /sys/class/net/passing/statistics/tx_bytes >/run/passing &&
    ip link del passing
  wait $!
}
check "apt upgrades it, while the link is used and ends" upgrade_meanwhile
rm -r /run/systemd/system/iftallyd.service.d
systemctl daemon-reload
passed_through() {
  local told
  told=$(iftally interfaces -i passing --json | sed -nE 's/.*"total":\{"quality":\{[^}]*\},.*"tx_bytes":([0-9]+).*/\1/p')
  [ "$told" = "$(cat /run/passing)" ] || { say "told $told of $(cat /run/passing)"; return 1; }
}
check "what passed through it until its end is counted to the byte" passed_through
check "the later version is then installed" has_version "$later"
restarted() { active && [ "$(process)" != "$before" ]; }
check "the later daemon runs" restarted
check "with the old totals, and what passed meanwhile" agrees
keeps_the_configuration() { grep -qx AllowedHosts=router.lan /etc/iftally/iftally.conf; }
check "a changed configuration is kept" keeps_the_configuration

check "the administrator stops and disables it" systemctl disable --now iftallyd.service iftallyd.socket
check "then it is installed again" apt_get install --reinstall "$packages/later.deb"
stays_off() { ! systemctl is-active -q iftallyd.service iftallyd.socket && ! systemctl is-enabled -q iftallyd.service; }
check "and stays off" stays_off
check "until it is enabled" systemctl enable --now iftallyd.service
check "which counts what passed meanwhile" agrees

check "apt removes it" apt_get remove iftally
is_gone() { ! command -v iftally && [ ! -e /run/iftally ] && ! systemctl status iftallyd.service iftallyd.socket; }
check "daemon, socket and programs are gone" is_gone
keeps_the_data() { ls /var/lib/iftally/*.db /etc/iftally/iftally.conf && keeps_the_configuration; }
check "history and configuration stay" keeps_the_data
traffic
check "installed once more" apt_get install "$packages/later.deb"
check "daemon and socket run again" active
check "it goes on with the old totals" agrees

check "apt purges it" apt_get purge iftally
nothing_is_left() {
  local left
  left=$(find / -xdev -path /opt/iftally-test -prune -o -name '*iftally*' -print)
  [ -z "$left" ] || { say "$left"; return 1; }
}
check "nothing of it is left" nothing_is_left
check "systemd has no trace of a failure" bash -c '! systemctl --failed --no-legend | grep iftally'
finish || { journalctl -q -u iftallyd -u iftallyd.socket --no-pager | tail -n 40; exit 1; }
