#!/bin/sh
# Runs a command with its output in a log, and shows one line of what goes on. Where the command fails it shows the log's end.
# Usage: quietly.sh LOG SENTENCE COMMAND [ARG...]
set -eu
log=$1
sentence=$2
shift 2

mkdir -p "$(dirname "$log")"
echo "$sentence; the output goes to $log"
status=0
"$@" >"$log" 2>&1 || status=$?
[ "$status" = 0 ] && exit 0
tail -n 40 "$log" >&2
echo "quietly: '$*' failed with status $status; all of its output is in $log" >&2
exit "$status"
