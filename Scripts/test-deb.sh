#!/bin/sh
# Builds the Debian package, installs it with apt in a fresh Debian 12 and a fresh Debian 13, follows the tutorials' commands that need no
# device, then removes and purges it. Ends with one line that says how it went.
# usage: test-deb.sh [SUITE...]
# What is mounted below goes with the last process of this script, however it ends. Needs root, and a mirror of Debian that apt knows.
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/deb/roots

expect() { # ROOT WORDS COMMAND: what the command prints holds the words
    printed=$(inside "$1" "$3" 2>&1) || true
    case $printed in *"$2"*) ;; *) fail "${1##*/}: '$3' should have said '$2', and said: $printed" ;; esac
}

try() { # SUITE
    root=$place/$1
    # It stands in a root that was made to its end.
    if [ ! -e "$root/.whole" ]; then
        make_debian "$1" "$root" --variant=apt --include=ca-certificates
        touch "$root/.whole"
    fi
    furnish "$root"
    # What a run left that failed.
    quietly inside "$root" "dpkg --purge --force-remove-reinstreq wakebridge; rm -rf /etc/wakebridge"
    cp "$built" "$root/mnt/wakebridge.deb"
    quietly inside "$root" "apt-get -qq update"
    expect "$root" "Next: sudo wakebridge setup" "apt-get -qq install --yes --no-install-recommends /mnt/wakebridge.deb"
    expect "$root" "wakebridge $version" "wakebridge --version"
    expect "$root" "wakebridged $version" "wakebridged --version"
    expect "$root" enabled "systemctl is-enabled wakebridged"
    expect "$root" "wakebridge:x:" "getent group wakebridge"
    expect "$root" '"bpm":62' "wakebridge replay /usr/share/wakebridge/Devices/heart-rate-monitor/recording.trace --speed max | sed -n 4p"
    expect "$root" "'wakebridge doctor' says how to start it" "wakebridge status"
    expect "$root" "hr.json5" "wakebridge new handler hr --profile heart-rate-monitor"
    quietly inside "$root" "wakebridge check /etc/wakebridge/handlers.d/hr.json5"
    expect "$root" "96 events, 96 acknowledged" \
        "cd /tmp; wakebridge replay /usr/share/wakebridge/Devices/heart-rate-monitor/recording.trace --speed 20 --user root -- /etc/wakebridge/handlers.d/hr.sh"
    expect "$root" "complete" "cat /usr/share/bash-completion/completions/wakebridge"
    expect "$root" "To remove the state too: sudo apt purge wakebridge" "apt-get -qq remove --yes wakebridge"
    expect "$root" "hr.sh" "ls /etc/wakebridge/handlers.d"
    expect "$root" "Removed: events and state" "apt-get -qq purge --yes wakebridge"
    expect "$root" "hr.sh" "ls /etc/wakebridge/handlers.d"
    expect "$root" "No such file" "ls /var/lib/wakebridge"
    inside "$root" "rm -rf /etc/wakebridge"
    took "$1"
}

check_machine "install packages in a Debian of its own"
[ "${1:-}" = apart ] || exec unshare --mount --propagation private Scripts/test-deb.sh apart "$@"
shift
[ $# -gt 0 ] || set -- bookworm trixie
since=$(date +%s)
version=$(Scripts/version.sh)
built=$(Scripts/deb.sh | tail -n 1)
took "the package"
for suite; do try "$suite"; done
echo "PASS: $built serves Debian $(echo "$*" | sed "s/bookworm/12/; s/trixie/13/; s/ / and /")"
