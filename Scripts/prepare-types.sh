#!/bin/sh
# Makes what the test of the Python module's types runs: below .build/types a Python environment with mypy. Prints what it installs,
# and nothing while all is well. If it cannot be made, the reason is left there, and the script ends well.
set -eu
cd "$(dirname "$0")/.."

place=.build/types
loss="the types of the Python module are not checked"
. Scripts/preparing.sh
in_turn "$@"

make_venv Packages/python/requirements.txt python3
rm -f "$place/reason"
