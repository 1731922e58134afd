#!/bin/sh
# Makes this machine ready to build: installs the Debian packages that are missing, Swift among them where apt has it.
# `prepare.sh tests` wants as well what only tests run. Asks nothing and says nothing while all is well. Needs root or sudo
# only if something is missing.
set -eu
cd "$(dirname "$0")/.."
. Scripts/preparing.sh

links() { case $(gcc -print-file-name="$1") in /*) true ;; *) false ;; esac; }

# Major version of the Swift on PATH; 0 where there is none, or where "swift" is another program.
swift_major() {
    major=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\)\..*/\1/p' | head -n 1)
    echo "${major:-0}"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

explain_swift() {
    cat >&2 <<TEXT
prepare: Swift 6.0 or newer is needed, and neither PATH nor apt has it here.
  Debian 13 and Raspberry Pi OS (trixie) carry it:  apt-get install swiftlang
  Debian 12 and others: install swift.org's toolchain, then run this again:
    curl -fO https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz
    tar -xzf swiftly-$(uname -m).tar.gz && ./swiftly init --assume-yes
    . ~/.local/share/swiftly/env.sh
TEXT
    exit 1
}

need gcc command -v gcc
need libc6-dev test -e /usr/include/stdlib.h
need g++ links libstdc++.a
need pkg-config command -v pkg-config
need libsystemd-dev pkg-config --exists libsystemd
need libudev-dev pkg-config --exists libudev
need libbluetooth-dev test -e /usr/include/bluetooth/hci.h
need libsqlite3-dev pkg-config --exists sqlite3
need libmicrohttpd-dev pkg-config --exists libmicrohttpd
need zlib1g-dev pkg-config --exists zlib
need libcurl4-openssl-dev pkg-config --exists libcurl
need jq command -v jq
if [ "${1:-}" = tests ]; then
    need make command -v make
    need python3 command -v python3
    need tzdata test -e /usr/share/zoneinfo/Europe/Berlin
    need curl command -v curl
    need openssl command -v openssl
    need valgrind command -v valgrind
    need binutils command -v objcopy
    need dbus-daemon command -v dbus-daemon
    need dbus-bin command -v dbus-send
    need python3-gi test -d /usr/lib/python3/dist-packages/gi
    need umockdev command -v umockdev-wrapper
    need gir1.2-umockdev-1.0 test -e /usr/lib/*/girepository-1.0/UMockdev-1.0.typelib
    need python3-dbus test -d /usr/lib/python3/dist-packages/dbus
    need tshark command -v tshark
    need python3-dbusmock test -d /usr/lib/python3/dist-packages/dbusmock
fi

[ "$(swift_major)" -ge 6 ] && has_swift=yes || has_swift=no
if [ -n "$missing" ] || [ "$has_swift" = no ]; then
    if ! command -v apt-get >/dev/null; then
        [ -z "$missing" ] && explain_swift
        echo "prepare: no apt-get here; install what these Debian packages hold:$missing" >&2
        exit 1
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        [ -z "$missing" ] && explain_swift
        echo "prepare: these Debian packages are missing and only root can install them:$missing" >&2
        echo "prepare: run as root: apt-get install$missing" >&2
        exit 1
    fi
    # Old lists do no harm where the network is away; what cannot be installed with them fails below, and says so.
    quietly as_root apt-get -qq update || echo "prepare: going on with the package lists that are here" >&2
fi

if [ "$has_swift" = no ]; then
    candidate=$(apt-cache policy swiftlang 2>/dev/null | sed -n 's/^ *Candidate: *//p')
    dpkg --compare-versions "${candidate:-0}" ge 6 2>/dev/null || explain_swift
    missing="$missing swiftlang"
fi

if [ -n "$missing" ]; then
    echo "prepare: installing$missing" >&2
    # shellcheck disable=SC2086  # a list of words
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $missing
    [ "$(swift_major)" -ge 6 ] || explain_swift
fi
