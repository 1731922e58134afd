#!/bin/sh
# Makes this machine ready for the lab: a kernel image, an emulator and BlueZ as Debian packages, and below .build/lab
# a Python environment with the pinned parts of requirements.txt. Says what it installs, and nothing while all is well.
# Where it cannot, it says why and ends with 0: the lab's tests are then skipped with that reason.
set -eu
cd "$(dirname "$0")/.."

place=.build/lab
loss="the lab is skipped"
. Scripts/preparing.sh
in_turn "$@"

[ "$(id -u)" = 0 ] || give_up "only root can install and run a guest over this machine's own files"
[ "$(uname -m)" = x86_64 ] || give_up "the lab's guest is known for x86_64 only, and this is $(uname -m)"
command -v apt-get >/dev/null || give_up "there is no apt-get here"
PATH=$PATH:/usr/sbin:/sbin

kernel() { find /boot -maxdepth 1 -name 'vmlinuz-*' | grep -q . && [ -d "/lib/modules" ]; }
need linux-image-amd64 kernel
need qemu-system-x86 command -v qemu-system-x86_64
# The guest's first programs, before this machine's files are there.
need busybox-static sh -c "command -v busybox"
need udev command -v udevadm
need kmod command -v modprobe
need bluez test -x /usr/libexec/bluetooth/bluetoothd
need bluez-test-tools command -v btvirt
need dbus command -v dbus-daemon
need python3-venv /usr/bin/python3 -c "import ensurepip"
need tzdata test -e /usr/share/zoneinfo/UTC
need python3-dbus /usr/bin/python3 -c "import dbus"
need python3-gi /usr/bin/python3 -c "import gi"

if [ -n "$missing" ]; then
    case $missing in
        *linux-image* | *qemu*) size=" (some 100 MB are fetched)" ;;
        *) size= ;;
    esac
    echo "prepare-lab: installing$missing$size" >&2
    quietly apt-get -qq update || echo "prepare-lab: going on with the package lists that are here" >&2
    # shellcheck disable=SC2086  # a list of words
    quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $missing ||
        give_up "apt-get could not install$missing"
fi

make_venv Tests/Lab/requirements.txt /usr/bin/python3 --system-site-packages
rm -f "$place/reason"
