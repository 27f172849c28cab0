#!/usr/bin/env bash
# Fetches the distribution's stock kernel and unpacks it, uninstalled, for the tests in a virtual machine.
#   scripts/fetch_kernel.sh DIR      prints the path of the kernel image; its modules stand beside it in DIR/lib/modules
# Exit status 2: it cannot be had here; the line on stderr says why. A directory that is complete is left alone.
set -euo pipefail
dir=${1:?directory to unpack into}

unpacked() { compgen -G "$dir/boot/vmlinuz-*" >/dev/null && [ -e "$dir/complete" ]; }
refuse() { echo "fetch_kernel: $1" >&2 && exit 2; }
if ! unpacked; then
	for tool in apt-get apt-cache dpkg-deb; do
		command -v "$tool" >/dev/null || refuse "no $tool; unpack a stock kernel and its modules by hand into $dir, then: touch $dir/complete"
	done
	[ "$(dpkg --print-architecture)" = amd64 ] || refuse "only amd64 kernels are tried"
	name() { apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }'; }
	package=$(name)
	if [ -z "$package" ]; then
		apt-get -qq update >&2 || refuse "apt-get update failed"
		package=$(name)
	fi
	[ -n "$package" ] || refuse "this distribution has no linux-image-amd64"
	[ ! -e "$dir" ] || refuse "$dir is there but not complete; remove it"
	partial=$dir.partial # nothing but what this script has made is ever removed
	rm -rf "$partial"
	mkdir -p "$partial"
	partial=$(cd "$partial" && pwd)
	# The lists may be older than the archive: once more after an update. As root, apt would complain that its own
	# user cannot write here.
	fetch() { (cd "$partial" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2); }
	fetch || { apt-get -qq update >&2 && package=$(name) && fetch; } || refuse "cannot download $package"
	dpkg-deb -x "$partial"/*.deb "$partial"
	rm -f "$partial"/*.deb
	touch "$partial/complete"
	mv "$partial" "$dir"
fi
ls "$dir"/boot/vmlinuz-* | head -n 1
