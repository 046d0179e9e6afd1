#!/bin/bash
# Installs into a folder of its own, looks at every file, and uninstalls: nothing may be left.
. "$(dirname "$0")/../../scripts/common.sh"
export DESTDIR PREFIX
DESTDIR=$(mktemp -d)
trap 'rm -rf "$DESTDIR"' EXIT

expected() { # PREFIX
  local zsh=site-functions
  if [ "$1" = /usr ] && [ -e /etc/debian_version ]; then zsh=vendor-completions; fi
  sort <<LIST
./etc/iftally/iftally.conf 644
.$1/bin/iftally 755
.$1/lib/systemd/system/iftally-alert.service 644
.$1/lib/systemd/system/iftallyd-links.socket 644
.$1/lib/systemd/system/iftallyd-tcp.socket 644
.$1/lib/systemd/system/iftallyd.service 644
.$1/lib/systemd/system/iftallyd.socket 644
.$1/lib/sysusers.d/iftally.conf 644
.$1/sbin/iftallyd 755
.$1/share/bash-completion/completions/iftally 644
.$1/share/bash-completion/completions/iftallyd 644
.$1/share/fish/vendor_completions.d/iftally.fish 644
.$1/share/fish/vendor_completions.d/iftallyd.fish 644
.$1/share/zsh/$zsh/_iftally 644
.$1/share/zsh/$zsh/_iftallyd 644
LIST
  for page in man/*.[158]; do echo ".$1/share/man/man${page##*.}/${page##*/} 644"; done | sort
}
present() { (cd "$DESTDIR" && find . ! -type d -printf '%p %m\n' | sort); }
holds_what_is_expected() { diff <(expected "$PREFIX" | sort) <(present); }
is_empty() { [ -z "$(present)" ] || { present; return 1; }; }
unit_names_the_program() {
  grep -qx "ExecStart=$PREFIX/sbin/iftallyd" "$DESTDIR$PREFIX/lib/systemd/system/iftallyd.service" &&
    grep -q "^ExecStart=$PREFIX/bin/iftally watch " "$DESTDIR$PREFIX/lib/systemd/system/iftally-alert.service" &&
    ! grep -r '@[A-Z]*@' "$DESTDIR$PREFIX/lib" "$DESTDIR/etc"
}
program_runs() { "$DESTDIR$PREFIX/bin/iftally" help; }
configuration_is_valid() { "$DESTDIR$PREFIX/sbin/iftallyd" --config "$DESTDIR/etc/iftally/iftally.conf" --check-config; }

for PREFIX in /usr/local /usr; do
  check "make install PREFIX=$PREFIX" make install
  check "it puts every file in its place, and no other" holds_what_is_expected
  check "the units start the programs that were installed" unit_names_the_program
  check "iftally runs from there" program_runs
  check "the configuration that comes with it is valid" configuration_is_valid
  check "make uninstall PREFIX=$PREFIX" make uninstall
  check "it leaves no file" is_empty
done

PREFIX=/usr
changed="[Api]\nTcp=8080\n"
keeps_what_was_written() { [ "$(cat "$DESTDIR/etc/iftally/iftally.conf")" = "$(printf '%b' "$changed")" ]; }
mkdir -p "$DESTDIR/etc/iftally"
printf '%b' "$changed" >"$DESTDIR/etc/iftally/iftally.conf"
check "installing over a configuration" make install
check "keeps it" keeps_what_was_written
check "uninstalling" make uninstall
check "keeps a changed configuration" keeps_what_was_written
check "a relative PREFIX is refused" bash -c '! make install PREFIX=usr'
finish
