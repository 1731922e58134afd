#!/bin/sh
# Makes what the tests of MQTT need: a broker and a client of its own from Debian, and below .build/mqtt a Python environment
# with Home Assistant. Says what it installs, and nothing while all is well. What cannot be had is left out with a reason.
set -eu
cd "$(dirname "$0")/.."

place=.build/mqtt
loss="Home Assistant's reading of discovery is not tried"
. Scripts/preparing.sh
in_turn "$@"

need mosquitto test -x /usr/sbin/mosquitto
need mosquitto-clients command -v mosquitto_pub
need libpaho-mqtt1.3 sh -c 'ldconfig -p | grep -q libpaho-mqtt3as.so.1'
need python3-paho-mqtt /usr/bin/python3 -c 'import paho.mqtt.client'
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || give_up "there is no apt-get here; install what these Debian packages hold:$missing"
    echo "prepare-mqtt: installing$missing" >&2
    # The broker is started by tests alone.
    # shellcheck disable=SC2086
    quietly env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install -y $missing ||
        give_up "apt-get could not install$missing"
fi

# Home Assistant's Python is newer than Debian 12's.
python=
for candidate in python3.13 python3.14 python3 "$HOME"/.pyenv/versions/3.13*/bin/python3.13; do
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 13))' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || give_up "Home Assistant needs Python 3.13, and there is none here"
make_venv Tests/BrokerTests/requirements.txt "$python"
rm -f "$place/reason"
