#!/usr/bin/env bash
# Installs the Debian packages that a target needs and this machine lacks; says which, and asks nothing.
#   scripts/bootstrap.sh build|demo|monitoring|test
# A thing is looked for by what it does (a compiler that runs, Python.h that exists), not by package name, so that other
# distributions and other Pythons work when everything is there. Exit status 2: something is missing and cannot be installed.
set -euo pipefail
profile=${1:?build, demo, monitoring or test}
packages=()
lacks() { packages+=("$@"); }
has() { command -v "$1" >/dev/null 2>&1; }
python=${PYTHON:-python3}

has cc && has gcc || lacks gcc
echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1 || lacks libc6-dev
if ! has "$python"; then
	lacks python3 python3-venv python3-dev
else
	"$python" -c 'import ensurepip, venv' 2>/dev/null || lacks python3-venv
	"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
		lacks python3-dev
fi
case $profile in
build) ;;
demo) has iperf3 || lacks iperf3 ;;
monitoring)
	has iperf3 || lacks iperf3
	has promtool && has prometheus || lacks prometheus
	;;
test)
	has iperf3 || lacks iperf3
	has ip || lacks iproute2
	has nft || [ -x /usr/sbin/nft ] || lacks nftables
	has tshark || lacks tshark
	has qemu-ppc && has qemu-arm && has qemu-aarch64 && has qemu-mips || lacks qemu-user
	has arm-linux-gnueabihf-as || lacks binutils-arm-linux-gnueabihf
	has powerpc-linux-gnu-as || lacks binutils-powerpc-linux-gnu
	# The kernel in a virtual machine: virtme-ng is a wheel and brings the rest.
	has qemu-system-x86_64 || lacks qemu-system-x86
	has depmod || lacks kmod
	has file || lacks file
	# What is exported is scraped by the real one.
	has promtool && has prometheus || lacks prometheus
	# strongSwan's libraries, plugins and swanctl: none of them starts a daemon (scripts/fetch_deb.sh gets that).
	has swanctl || lacks strongswan-swanctl
	[ -e /usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so ] || lacks strongswan-libcharon libcharon-extra-plugins
	[ -e /usr/lib/ipsec/plugins/libstrongswan-openssl.so ] || lacks libstrongswan-standard-plugins
	has busybox || lacks busybox-static
	has shellcheck || lacks shellcheck
	# libFuzzer comes with the compiler's own run-time library.
	has clang || has clang-14 || lacks clang-14 libclang-rt-14-dev
	# Routers for tests: ssh servers of two kinds, and their firewall.
	has sshd || [ -x /usr/sbin/sshd ] || lacks openssh-server
	has ssh || lacks openssh-client
	has dropbear && has dropbearconvert || lacks dropbear-bin
	has nft || lacks nftables
	has iptables || [ -x /usr/sbin/iptables ] || lacks iptables
	has sudo || lacks sudo
	# Implementations of others, which ours are compared with: loaded at run time, never required.
	libraries=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p)
	[[ $libraries == *libcrypto.so.3* || $libraries == *libcrypto.so.1.1* ]] || lacks libssl3
	[[ $(uname -m) != x86_64 || $libraries == *libIPSec_MB.so.1* ]] || lacks libipsec-mb1
	;;
*) echo "bootstrap: unknown profile $profile" >&2 && exit 2 ;;
esac

if [ ${#packages[@]} -gt 0 ]; then
	if ! has apt-get; then
		echo "missing, by their Debian names: ${packages[*]}; install them with this system's package manager" >&2
		exit 2
	fi
	if [ "$(id -u)" = 0 ]; then
		as_root=()
	elif has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		as_root=(sudo)
	else
		echo "missing: ${packages[*]}; run as root: apt-get install ${packages[*]}" >&2
		exit 2
	fi
	echo "Installing Debian packages: ${packages[*]}"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	install() {
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null >"$log" 2>&1
	}
	if ! { install update && install install -y --no-install-recommends "${packages[@]}"; }; then
		tail -n 20 "$log" >&2
		echo "apt-get failed; the lines above say why" >&2
		exit 2
	fi
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	echo "$python is $("$python" -V 2>&1); gwbench needs Python 3.11 or newer (PYTHON=... names another)" >&2
	exit 2
}
