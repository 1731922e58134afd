#!/bin/sh
# Builds daemon and tool for arm64 on amd64, so that they run on Debian 12 and 13, and puts them into .build/arm64/bin;
# `arm64.sh tests` also runs the unit tests of arm64 in an emulator. The compiler is that of Scripts/debian13.sh's root.
# What it links with are two Debians of arm64 below .build/arm64, from which nothing runs but in the emulator.
# Needs root, and a mirror of Debian that apt knows.
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/arm64
libraries=libsystemd-dev,libudev-dev,libsqlite3-dev,libcurl4-openssl-dev,libbluetooth-dev,libmicrohttpd-dev,zlib1g-dev
# Headers and libraries of the older one, so that programs ask for nothing newer.
bookworm=libc6-dev,libgcc-12-dev,libstdc++-12-dev,$libraries,libmicrohttpd12
# Swift of the newer one: Debian 12 has none.
trixie=libc6-dev,libgcc-14-dev,libstdc++-14-dev,$libraries,libmicrohttpd12t64,swiftlang

sysroot() { # SUITE PACKAGES
    tree=$place/$1
    make_debian "$1" "$tree" --architectures=arm64 --variant=extract \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include="$2"
    # Links that begin with / would lead out of the tree.
    find "$tree/usr/lib" -type l -lname '/*' | while read -r link; do ln -sfr "$tree$(readlink "$link")" "$link"; done
    # Two thirds of Swift are programs, and the debugger's library.
    rm -rf "$tree/usr/libexec/swift/bin" "$tree"/usr/libexec/swift/lib/liblldb* "$tree/usr/share/doc"
}

check_machine "build for arm64"
[ "$(uname -m)" = x86_64 ] || fail "only an amd64 machine builds for arm64 this way; on arm64 itself run: make build"
since=$(date +%s)
if [ "$(cat "$place/packages" 2>/dev/null)" != "$bookworm $trixie" ]; then
    rm -f "$place/packages"
    sysroot bookworm "$bookworm"
    sysroot trixie "$trixie"
    echo "$bookworm $trixie" >"$place/packages"
    took "Debian 12 and 13 of arm64"
fi
exec Scripts/debian13.sh run TEST_SILENCE="${TEST_SILENCE:-900}" Scripts/arm64-build.sh "${1:-programs}"
