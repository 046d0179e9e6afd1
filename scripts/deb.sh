#!/bin/bash
# Builds the Debian package of the release programs into .build/deb; IFTALLY_DEB_VERSION gives it another version than
# the source's, which tests of an upgrade need.
. "$(dirname "$0")/common.sh"
scripts/release.sh
version=${IFTALLY_DEB_VERSION:-$(sed -n 's/^package let iftallyVersion = "\(.*\)"$/\1/p' Sources/TallyWire/Version.swift)}
[ -n "$version" ] || fail "Sources/TallyWire/Version.swift names no version."

# dpkg-buildpackage wants debian/ at the top, and leaves its results above: a copy is staged for it.
stage=.build/deb/stage
rm -rf .build/deb
mkdir -p $stage
cp -R packaging/debian $stage/debian
# The same source gives the same package, whenever it is built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
sed "s/@VERSION@/$version/; s/@DATE@/$(date -uRd "@$SOURCE_DATE_EPOCH")/" $stage/debian/changelog.in >$stage/debian/changelog
rm $stage/debian/changelog.in
(cd $stage && IFTALLY_SOURCE=$PWD/../../.. dpkg-buildpackage --build=binary --no-sign)
say "" "The package: $(ls "$PWD"/.build/deb/iftally_"$version"_*.deb)"
