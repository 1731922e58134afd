#!/bin/sh
# Makes what the tests check the metrics with: below .build/metrics the two programs of Debian's prometheus, unpacked and not
# installed, for its service would begin to run; and a Python environment with the parser of requirements.txt. Says what it
# fetches, and nothing while all is well. What cannot be had is left out with a reason, which the tests print.
set -eu
cd "$(dirname "$0")/.."

place=.build/metrics
loss="no metric is read by Prometheus"
. Scripts/preparing.sh
in_turn "$@"

# Those of this machine, where it has them.
fetch_prometheus() {
    mkdir -p "$place/bin"
    for program in prometheus promtool; do
        [ -x "$place/bin/$program" ] || ! command -v "$program" >/dev/null || ln -sf "$(command -v "$program")" "$place/bin/$program"
    done
    [ ! -x "$place/bin/prometheus" ] || [ ! -x "$place/bin/promtool" ] || return 0
    command -v apt-get >/dev/null || give_up "there is no apt-get here, and no prometheus"
    echo "prepare-metrics: fetching Debian's prometheus into $place" >&2
    rm -rf "$place/deb"
    mkdir -p "$place/deb"
    (cd "$place/deb" && quietly apt-get -qq download prometheus) || give_up "apt-get could not download prometheus"
    dpkg-deb -x "$place"/deb/prometheus_*.deb "$place/deb/files"
    for program in prometheus promtool; do mv -f "$place/deb/files/usr/bin/$program" "$place/bin/$program"; done
    rm -rf "$place/deb"
}

fetch_prometheus
make_venv Tests/Metrics/requirements.txt python3
rm -f "$place/reason"
