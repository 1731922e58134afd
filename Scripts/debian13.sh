#!/bin/sh
# Builds sources and tests for speed with Debian 13's own Swift, in a Debian 13 root below .build/debian13, and runs the unit tests
# there; `debian13.sh build` only builds the sources, not optimized, and `debian13.sh run COMMAND...` runs something else there.
# The root is made once for each list of packages, and prepared by Scripts/prepare.sh like any fresh machine.
# Only processes of this script see what is mounted in the root. Needs root, and a mirror of Debian that apt knows.
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/debian13
root=$place/root
checkout=/wakebridge

make_root() {
    rm -rf --one-file-system "$place"
    make_debian trixie "$root" --variant=important --include=ca-certificates
    mkdir "$root$checkout"
}

enter() {
    furnish "$root"
    mount --bind . "$root$checkout"
}

# Runs a command in the checkout there, with nothing of this environment but the way to the network.
inside() {
    chroot "$root" /usr/bin/env -i --chdir="$checkout" HOME=/root LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" "$@"
}

# shellcheck disable=SC2086  # several words
build() { inside swift build $options $extent </dev/null; }
tests() { inside TEST_BUILD="$options" TEST_SILENCE="${TEST_SILENCE:-900}" Scripts/test.py units; }

check_machine "build in a Debian 13 of its own"
# What is mounted below goes with the last process of this script, however it ends.
[ "${1:-}" = apart ] || exec unshare --mount --propagation private Scripts/debian13.sh apart "$@"
shift
goal=${1:-tests}

since=$(date +%s)
# What only has to compile is ready many times sooner without the tests, and where nothing is optimized.
case $goal in
build) options="--scratch-path .build/debian13/debug" extent= ;;
*) options="-c release -Xswiftc -enable-testing --scratch-path .build/debian13/build" extent=--build-tests ;;
esac
packages=$(cat Scripts/prepare.sh Scripts/debian13.sh | cksum)
if [ "$(cat "$place/packages" 2>/dev/null)" != "$packages" ]; then
    make_root
    enter
    inside Scripts/prepare.sh tests || fail "Scripts/prepare.sh could not prepare a fresh Debian 13; above is why"
    echo "$packages" >"$place/packages"
    took "the root"
else
    enter
fi
if [ "$goal" = run ]; then
    shift
    inside "$@"
    exit
fi
build || fail "Debian 13's Swift does not build it; above is why"
took "the build"
[ "$goal" = tests ] || exit 0
tests || fail "the unit tests fail on Debian 13; above is which"
took "the tests"
