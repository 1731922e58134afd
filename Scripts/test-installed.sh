#!/bin/sh
# Installs the Debian package in a whole Debian 12 and a whole Debian 13 with systemd, each in an emulator: sets it up, cuts the machine
# off, upgrades, starves, removes and purges it (Tests/Installed/play.py). Ends with one line that says how it went.
# usage: test-installed.sh [SUITE...]
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/installed
python=$PWD/.build/lab/venv/bin/python

# What a machine has before the package comes. There is no network: the library that the package needs, and the zones that it
# recommends, wait where apt keeps what it fetched.
make_machine() { # SUITE ROOT
    make_debian "$1" "$2" --variant=apt --include=ca-certificates,systemd-sysv,dbus,udev,kmod,bluez,python3,libcurl4,libsqlite3-0,initramfs-tools,zstd
    furnish "$2"
    printf 'virtio_pci\nvirtio_blk\next4\n' >>"$2/etc/initramfs-tools/modules"
    echo MODULES=list >"$2/etc/initramfs-tools/conf.d/machine"
    quietly inside "$2" "apt-get -qq update; apt-get -qq install --yes --no-install-recommends linux-image-amd64"
    quietly inside "$2" "apt-get clean; apt-get -qq install --yes --download-only jq libmicrohttpd12 tzdata; systemctl mask apt-daily.timer apt-daily-upgrade.timer"
    echo cupboard >"$2/etc/hostname"
}

# The disk of a suite, and beside it what boots it; again where this script has changed.
make_disk() { # SUITE
    root=$place/root-$1
    stamp=$(cksum <Scripts/test-installed.sh)
    if [ "$(cat "$place/$1.made" 2>/dev/null)" != "$stamp" ]; then
        make_machine "$1" "$root"
        umount -R -l "$root"
        echo "$stamp" >"$place/$1.made"
    fi
    mkdir -p "$root/opt/within" "$place/$1"
    cp Tests/Installed/within.py Tests/Lab/dongle.py Tests/Lab/waiting.py "$root/opt/within/"
    cp Tests/Installed/keyboard.service Tests/Installed/radio.service "$root/etc/systemd/system/"
    ln -sf ../keyboard.service "$root/etc/systemd/system/multi-user.target.wants/keyboard.service"
    cp -L "$root/vmlinuz" "$root/initrd.img" "$place/$1/"
    pour "$root" "$place/$1.img" 1800M
}

pour() { # FOLDER IMAGE SIZE: makes a disk of a folder
    rm -f "$2"
    truncate -s "$3" "$2"
    mke2fs -q -t ext4 -d "$1" "$2"
}

# The package as it was built, and the same as the next version.
make_packages() {
    rm -rf "$place/packages" "$place/next"
    mkdir -p "$place/packages"
    cp "$built" "$place/packages/"
    dpkg-deb --raw-extract "$built" "$place/next"
    sed -i "s/^Version: .*/Version: $higher/" "$place/next/DEBIAN/control"
    quietly dpkg-deb --root-owner-group --build "$place/next" "$place/packages/wakebridge_${higher}_amd64.deb"
    pour "$place/packages" "$place/packages.img" 64M
}

check_machine "install packages in a machine of its own"
[ "${1:-}" = apart ] || exec unshare --mount --propagation private Scripts/test-installed.sh apart "$@"
shift
[ ! -s .build/lab/reason ] || { echo "installed: skipped: $(cat .build/lab/reason)"; exit 0; }
[ $# -gt 0 ] || set -- bookworm trixie
since=$(date +%s)
version=$(Scripts/version.sh)
higher=$version+next
built=$(Scripts/deb.sh | tail -n 1)
mkdir -p "$place"
need e2fsprogs command -v mke2fs
install_missing "no disk can be made"
make_packages
took "the package"
for suite; do
    make_disk "$suite"
    took "the disk of $suite"
    "$python" Tests/Installed/play.py "$place/run-$suite" "$place" "$suite" "$version" "$higher"
    took "$suite"
done
echo "PASS: $built lives through install, power cut, upgrade and removal on $*"
