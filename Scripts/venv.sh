#!/bin/sh
# Prints the folder of a Python environment with pinned packages, and makes it where this user has none yet: all clones share it.
# Where it cannot, the last line that it prints is the reason, and it ends with 1.
# usage: venv.sh REQUIREMENTS PYTHON [OPTION of venv...]
set -eu
cd "$(dirname "$0")/.."
. Scripts/preparing.sh

wanted=$1 python=$2
shift 2

refuse() { echo "$*"; exit 1; }

about=$("$python" -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null) || refuse "there is no $python here"
sum=$({ echo "$about $*"; cat "$wanted"; } | sha256sum | cut -c 1-16)

# A process of tests sees other folders at some places (Scripts/place.py), and a user may have no home: then this clone keeps its own.
place=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/wakebridge/venv
case $place in /tmp/* | /run/* | /dev/shm/* | /srv/*) place=.build/venv ;; esac
mkdir -p "$place" 2>/dev/null && [ -w "$place" ] || place=.build/venv
mkdir -p "$place"
venv=$place/$sum

# An environment cannot be moved, so it is made where it stays. Its last file is `complete`: a folder without it was interrupted.
make_environment() {
    [ ! -f "$venv/complete" ] || return 0
    echo "venv.sh: installing what $wanted names into $venv" >&2
    rm -rf "$venv"
    quietly "$python" -m venv "$@" "$venv" || refuse "$python -m venv failed (Debian: apt-get install python3-venv)"
    quietly "$venv/bin/pip" --disable-pip-version-check install --requirement "$wanted" || refuse "pip could not install what $wanted names"
    cp "$wanted" "$venv/requirements.txt"
    : >"$venv/complete"
}

# Other clones wait here for the one that makes it. What pip starts does not inherit the lock.
if [ ! -f "$venv/complete" ]; then
    exec 9>"$venv.lock"
    flock 9
    make_environment "$@" 9>&-
fi
echo "$venv"
