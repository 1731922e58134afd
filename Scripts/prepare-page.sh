#!/bin/sh
# Makes what tries the page in a browser: Chromium as a Debian package, and below .build/page a Python environment with the
# pinned parts of requirements.txt. Says what it installs, and nothing while all is well.
# Where it cannot, it says why and ends with 0: the page is then tried in no browser, with that reason.
set -eu
cd "$(dirname "$0")/.."

place=.build/page
loss="the page is tried in no browser"
. Scripts/preparing.sh
in_turn "$@"

need chromium command -v chromium
# A browser without fonts draws boxes, which no picture should show.
need fonts-dejavu-core test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
need python3-venv python3 -c "import ensurepip"

if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || give_up "there is no apt-get here, and these Debian packages are missing:$missing"
    [ "$(id -u)" = 0 ] || give_up "only root can install$missing"
    echo "prepare-page: installing$missing (some 100 MB are fetched)" >&2
    quietly apt-get -qq update || echo "prepare-page: going on with the package lists that are here" >&2
    # shellcheck disable=SC2086  # a list of words
    quietly env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qq install --yes \
        --no-install-recommends $missing || give_up "apt-get could not install$missing"
fi

make_venv Tests/Page/requirements.txt python3
rm -f "$place/reason"
