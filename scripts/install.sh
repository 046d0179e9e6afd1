#!/bin/bash
# Installs or uninstalls (install.sh install|uninstall) below $DESTDIR$PREFIX; the configuration goes to $DESTDIR/etc.
. "$(dirname "$0")/common.sh"
prefix=${PREFIX:-/usr/local}
destination=${DESTDIR:-}
case $prefix in /*) ;; *) fail "PREFIX=$prefix is not an absolute path." ;; esac
base=$destination$prefix
configuration=$destination/etc/iftally/iftally.conf

# Debian's zsh looks into vendor-completions for what packages bring; below /usr/local all know site-functions.
zsh=share/zsh/site-functions
if [ "$prefix" = /usr ] && [ -e /etc/debian_version ]; then zsh=share/zsh/vendor-completions; fi

# Every file: its mode, its source and its place.
files() {
  cat <<LIST
755 .build/release/iftally bin/iftally
755 .build/release/iftallyd sbin/iftallyd
644 systemd/iftallyd.service.in lib/systemd/system/iftallyd.service
644 systemd/iftallyd.socket.in lib/systemd/system/iftallyd.socket
644 systemd/iftallyd-links.socket.in lib/systemd/system/iftallyd-links.socket
644 systemd/iftallyd-tcp.socket.in lib/systemd/system/iftallyd-tcp.socket
644 systemd/iftally-alert.service.in lib/systemd/system/iftally-alert.service
644 systemd/iftally.sysusers.in lib/sysusers.d/iftally.conf
LIST
  local page program
  for page in man/*.[158]; do echo "644 $page share/man/man${page##*.}/${page##*/}"; done
  for program in iftally iftallyd; do
    echo "644 packaging/completions/$program.bash share/bash-completion/completions/$program"
    echo "644 packaging/completions/_$program $zsh/_$program"
    echo "644 packaging/completions/$program.fish share/fish/vendor_completions.d/$program.fish"
  done
}

# The owner of the source builds, so that `sudo make install` leaves no file of root's there.
build() {
  local owner
  if [ -x .build/release/iftallyd ] && [ -z "$(find Package.swift Sources -newer .build/release/iftallyd -print -quit)" ]
  then return; fi
  owner=$(stat -c %U .)
  if [ "$(id -u)" = 0 ] && [ "$owner" != root ]; then
    runuser -u "$owner" -- scripts/release.sh
  else
    scripts/release.sh
  fi
}

# The running system learns of it, unless files are only laid out for a package or an image.
tell_systemd() {
  [ -z "$destination" ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ] || return 0
  if [ "$1" = install ]; then systemd-sysusers "$base/lib/sysusers.d/iftally.conf"; fi
  systemctl daemon-reload
}

case ${1:-} in
  install)
    build
    files | while read -r mode from to; do
      install -d "$base/$(dirname "$to")"
      case $from in
        *.in) sed "s,@SBINDIR@,$prefix/sbin,g; s,@BINDIR@,$prefix/bin,g" "$from" | install -m "$mode" /dev/stdin "$base/$to" ;;
        *) install -m "$mode" "$from" "$base/$to" ;;
      esac
    done
    if [ ! -e "$configuration" ]; then install -D -m 644 systemd/iftally.conf.in "$configuration"; fi
    tell_systemd install
    say "Installed below $base. To count from now on: systemctl enable --now iftallyd"
    ;;
  uninstall)
    if [ -z "$destination" ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
      systemctl disable --now iftallyd.service iftallyd.socket iftallyd-links.socket iftallyd-tcp.socket \
        iftally-alert.service 2>/dev/null || true
    fi
    files | while read -r _ _ to; do rm -f "$base/$to"; done
    # What somebody has written stays.
    if cmp -s systemd/iftally.conf.in "$configuration"; then
      rm "$configuration"
      rmdir --ignore-fail-on-non-empty "$destination/etc/iftally"
    elif [ -e "$configuration" ]; then
      say "Kept $configuration, since it was changed."
    fi
    tell_systemd uninstall
    say "Uninstalled from $base. The store in /var/lib/iftally, if any, is kept."
    ;;
  *) fail "usage: install.sh install|uninstall" ;;
esac
