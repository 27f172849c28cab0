#!/usr/bin/env bash
# Fetches the few programs of a small armhf system and unpacks them, uninstalled, for the tests with an emulated router.
#   scripts/fetch_armhf.sh DIR       DIR becomes its root: BusyBox, dropbear and their libraries
# Package lists of its own: this machine's are left alone. Exit status 2: it cannot be had here; stderr says why.
set -euo pipefail
dir=${1:?directory to unpack into}
packages=(busybox-static dropbear-bin libc6 libtomcrypt1 libtommath1 libgmp10 libcrypt1 zlib1g)

refuse() { echo "fetch_armhf: $1" >&2 && exit 2; }
[ ! -e "$dir/complete" ] || exit 0
for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || refuse "no $tool; unpack armhf's busybox-static, dropbear-bin and libraries by hand into $dir, then: touch $dir/complete"
done
[ ! -e "$dir" ] || refuse "$dir is there but not complete; remove it"
partial=$dir.partial # nothing but what this script has made is ever removed
rm -rf "$partial"
mkdir -p "$partial/root" "$partial/lists/partial" "$partial/cache/archives/partial"
partial=$(cd "$partial" && pwd)
options=(-qq -o APT::Sandbox::User=root -o APT::Architecture=armhf -o APT::Architectures=armhf -o Acquire::Languages=none
	-o "Dir::State::Lists=$partial/lists" -o "Dir::Cache=$partial/cache")
# One mirror of several may fail; whether what is wanted is there, the download tells.
apt-get "${options[@]}" update >"$partial/log" 2>&1 || true
(cd "$partial" && apt-get "${options[@]}" download "${packages[@]}" >>log 2>&1) ||
	refuse "cannot download armhf packages: $(tail -n 1 "$partial/log")"
for package in "$partial"/*.deb; do dpkg-deb -x "$package" "$partial/root"; done
root=$partial/root
for applet in sh ash cat chmod cut date df echo expr false grep head id ip kill ls mkdir mktemp mount od ps pwd readlink rm \
	sed sha256sum sleep sort stat tail test tr true umount uname wc; do
	ln -sf busybox "$root/bin/$applet"
done
mkdir -p "$root"/{proc,sys,dev,tmp,run,root,etc/dropbear,var/run,usr/bin}
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
echo /bin/sh >"$root/etc/shells"
printf 'DISTRIB_ID="OpenWrt"\nDISTRIB_DESCRIPTION="armhf under qemu-user"\n' >"$root/etc/openwrt_release"
touch "$root/complete"
mv "$root" "$dir"
rm -rf "$partial"
