#!/bin/sh
# Builds sources and tests for speed with Debian 13's own Swift, in a Debian 13 root below .build/debian13, and runs the unit tests
# there; `debian13.sh build` builds only. The root is made once for each list of packages, and prepared by Scripts/prepare.sh like any fresh machine.
# Only processes of this script see what is mounted in the root. Needs root, and a mirror of Debian that apt knows.
set -eu
cd "$(dirname "$0")/.."
. Scripts/preparing.sh

place=$PWD/.build/debian13
root=$place/root
checkout=/wakebridge
PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "debian13: $*" >&2
    exit 1
}

# What took the time since this was said last.
took() {
    now=$(date +%s)
    echo "debian13: $1 took $((now - since)) s" >&2
    since=$now
}

# The mirror that this machine's apt takes Debian itself from.
mirror() {
    known=$(apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian main //p' | head -n 1)
    echo "${known:-http://deb.debian.org/debian}"
}

# How this machine's apt reaches its mirror: proxies and the like.
apt_settings() { apt-config dump | grep -E '^Acquire::(https?|Retries|Check)' || true; }

make_tools() {
    need mmdebstrap command -v mmdebstrap
    need debian-archive-keyring test -e /usr/share/keyrings/debian-archive-trixie-stable.gpg
    [ -n "$missing" ] || return 0
    echo "debian13: installing$missing" >&2
    quietly apt-get -qq update || echo "debian13: going on with the package lists that are here" >&2
    # shellcheck disable=SC2086  # a list of words
    quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $missing ||
        fail "apt-get could not install$missing, so there is no Debian 13 to build in"
}

make_root() {
    make_tools
    rm -rf --one-file-system "$place"
    mkdir -p "$place"
    apt_settings >"$place/apt.conf"
    from=$(mirror)
    echo "debian13: making a Debian 13 below .build/debian13 from $from" >&2
    quietly mmdebstrap --mode=root --variant=important --include=ca-certificates --aptopt="$place/apt.conf" trixie "$root" "$from" ||
        fail "no Debian 13 could be fetched from $from; above is why"
    # For a mirror whose certificate only this network knows.
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    mkdir "$root$checkout"
}

furnish() {
    # A root that is a mount itself is one in which tests can have mounts of their own.
    mount --bind "$root" "$root"
    for tree in proc dev sys; do mount --rbind "/$tree" "$root/$tree"; done
    mount -t tmpfs -o mode=755 run "$root/run"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    mount --bind . "$root$checkout"
    for known in resolv.conf hosts; do [ ! -e "/etc/$known" ] || cp -L "/etc/$known" "$root/etc/"; done
}

# Runs a command in the checkout there, with nothing of this environment but the way to the network.
inside() {
    chroot "$root" /usr/bin/env -i --chdir="$checkout" HOME=/root LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" "$@"
}

# shellcheck disable=SC2086  # several words
build() { inside swift build $options --build-tests </dev/null; }
tests() { inside TEST_BUILD="$options" TEST_SILENCE="${TEST_SILENCE:-900}" Scripts/test.py units; }

[ "$(id -u)" = 0 ] || fail "only root can build in a Debian 13 of its own: run it as root, or with sudo"
command -v apt-get >/dev/null || fail "there is no apt-get here to make a Debian 13 with"
# What is mounted below goes with the last process of this script, however it ends.
goal=${1:-tests}
[ "${2:-}" = apart ] || exec unshare --mount --propagation private Scripts/debian13.sh "$goal" apart

since=$(date +%s)
options="-c release -Xswiftc -enable-testing --scratch-path .build/debian13/build"
packages=$(cat Scripts/prepare.sh Scripts/debian13.sh | cksum)
if [ "$(cat "$place/packages" 2>/dev/null)" != "$packages" ]; then
    make_root
    furnish
    inside Scripts/prepare.sh tests || fail "Scripts/prepare.sh could not prepare a fresh Debian 13; above is why"
    echo "$packages" >"$place/packages"
    took "the root"
else
    furnish
fi
build || fail "Debian 13's Swift does not build it; above is why"
took "the build"
[ "$goal" = tests ] || exit 0
tests || fail "the unit tests fail on Debian 13; above is which"
took "the tests"
