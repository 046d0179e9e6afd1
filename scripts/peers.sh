#!/bin/bash
# Unpacks the incumbents that we compare ourselves with into .build/peers; nothing of them is installed or started.
. "$(dirname "$0")/common.sh"
command -v apt-get >/dev/null || fail "The peers come from Debian packages, and there is no apt-get here."
packages=(vnstat prometheus-node-exporter)
folder=.build/peers
if [ -e $folder/complete ]; then exit 0; fi

rm -rf $folder
mkdir -p $folder/packages
fetch() { (cd $folder/packages && apt-get -qq -o APT::Sandbox::User=root download "$@"); }
if ! fetch "${packages[@]}"; then
  [ "$(id -u)" = 0 ] || fail "apt knows no ${packages[*]}; as root, run: apt-get update"
  apt-get -qq update
  fetch "${packages[@]}"
fi
unpack() {
  local package
  for package in $folder/packages/*.deb; do
    dpkg-deb -x "$package" $folder
    rm "$package"
  done
}
unpack

# Shared libraries that this machine lacks come along; their package names follow from the packages' dependencies.
programs=("$folder/usr/bin/vnstat" "$folder/usr/sbin/vnstatd" "$folder/usr/bin/prometheus-node-exporter")
architecture=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
export LD_LIBRARY_PATH=$folder/usr/lib/$architecture
if ldd "${programs[@]}" | grep -q 'not found'; then
  mapfile -t libraries < <(apt-cache depends "${packages[@]}" | sed -n 's/^  Depends: \(lib[^ ]*\)$/\1/p' | grep -v '^libc6$' | sort -u)
  fetch "${libraries[@]}"
  unpack
fi
if ldd "${programs[@]}" | grep 'not found'; then fail "Libraries of the peers are missing, see above."; fi
rmdir $folder/packages
touch $folder/complete
