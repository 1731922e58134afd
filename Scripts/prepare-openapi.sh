#!/bin/sh
# Makes what the test of the API's description runs: below .build/openapi a Python environment with the pinned parts of
# requirements.txt. Says what it installs, and nothing while all is well. What cannot be had is left out with a reason.
set -eu
cd "$(dirname "$0")/.."

place=.build/openapi
loss="the description of the API is not tried"
. Scripts/preparing.sh
in_turn "$@"

make_venv Tests/OpenAPI/requirements.txt python3
rm -f "$place/reason"
