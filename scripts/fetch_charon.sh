#!/usr/bin/env bash
# Prints the path of strongSwan's IKE daemon for the tests. Where it is not installed, Debian's package is unpacked into
# DIR and not installed: installing it would start a daemon that takes this machine's UDP ports 500 and 4500. Its
# libraries and plugins are packages without a daemon (scripts/bootstrap.sh).
#   scripts/fetch_charon.sh DIR
# Exit status 2: it cannot be had here; the line on stderr says why.
set -euo pipefail
dir=${1:?directory to unpack into}
refuse() { echo "fetch_charon: $1" >&2 && exit 2; }

for installed in /usr/sbin/charon-systemd "$dir/usr/sbin/charon-systemd"; do
	[ -x "$installed" ] && echo "$installed" && exit
done
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || refuse "no $tool; install strongSwan's charon-systemd by hand"
done
partial=$(mktemp -d)
trap 'rm -rf "$partial"' EXIT
cd "$partial"
# The lists may be older than the archive: once more after an update. As root, apt would complain that its own user
# cannot write here.
fetch() { apt-get -qq -o APT::Sandbox::User=root download charon-systemd >&2; }
fetch || { apt-get -qq update >&2 && fetch; } || refuse "cannot download charon-systemd"
dpkg-deb -x ./*.deb unpacked
cd - >/dev/null
mkdir -p "$dir/usr/sbin"
cp "$partial/unpacked/usr/sbin/charon-systemd" "$dir/usr/sbin/"
ls "$dir/usr/sbin/charon-systemd"
