#!/bin/sh
# Called by the feed's CI with the package's name and version.
case "$1" in
gwbench)
	gwbench --version | grep -F "$2" || exit 1
	gwbench selftest >/dev/null || exit 1
	;;
esac
