#!/usr/bin/env bash
# Downloads a Debian package and unpacks it, uninstalled: an installed daemon would be started and take this machine's
# ports. A directory that is complete is left alone.
#   scripts/fetch_deb.sh PACKAGE DIR
# Exit status 2: it cannot be had here; the line on stderr says why.
set -euo pipefail
package=${1:?package} dir=${2:?directory to unpack into}
refuse() { echo "fetch_deb: $1" >&2 && exit 2; }

[ ! -e "$dir/complete" ] || exit 0
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || refuse "no $tool; unpack $package by hand into $dir, then: touch $dir/complete"
done
[ ! -e "$dir" ] || refuse "$dir is there but not complete; remove it"
mkdir -p "$(dirname "$dir")"
partial=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$partial"' EXIT
# The lists may be older than the archive: once more after an update. As root, apt would complain that its own user
# cannot write here.
fetch() { (cd "$partial" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2); }
fetch || { apt-get -qq update >&2 && fetch; } || refuse "cannot download $package"
dpkg-deb -x "$partial"/*.deb "$partial"
rm -f "$partial"/*.deb
touch "$partial/complete"
chmod 755 "$partial"
mv "$partial" "$dir"
