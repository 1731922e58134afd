#!/bin/sh
# Plays the scenarios of the lab, with the daemon and the tool as `make install` builds them: the guest's processor may be
# emulated. Two guests play at once, and one of them gets the scenarios that wait more than they work (`WAITS = True`). Beside
# them those play that say in `BOOTS` how they boot, one after the other, each in a machine of its own: time passes there by
# what its processor does, so they give way.
# Prints what goes by, and of a scenario that failed its claims and the last lines of its logs. The status is 0 where all
# passed. LabTests start it and read its reports.
# LAB_SCENARIOS names some; WAKEBRIDGED names another daemon, which has the tool beside it; LAB_LIMIT is each guest's time in
# seconds (3000); LAB_FOLDER is where the reports go (.build/lab/run; .build/lab/run-beside for the second guest, and
# .build/lab/run-alone for machines of their own).
set -eu
cd "$(dirname "$0")/.."
exec 2>&1

if [ -s .build/lab/reason ]; then
    echo "lab: skipped: $(cat .build/lab/reason)"
    exit 0
fi
checkout=$(pwd -P)
folder=${LAB_FOLDER:-$checkout/.build/lab/run}
limit=${LAB_LIMIT:-3000}
rm -rf "$folder" "$folder-beside" "$folder-alone"

if [ -n "${WAKEBRIDGED:-}" ]; then
    programs=$(dirname "$(readlink -f "$WAKEBRIDGED")")
else
    for program in wakebridged wakebridge; do
        Scripts/release.sh --product "$program"
    done
    programs=$(Scripts/release.sh --show-bin-path)
fi

waiting='' working='' alone=''
for file in Tests/Lab/scenarios/*.py; do
    name=$(basename "$file" .py)
    case " ${LAB_SCENARIOS:-$name} " in *" $name "*) ;; *) continue ;; esac
    if grep -q '^BOOTS = ' "$file"; then alone="$alone $name"
    elif grep -qx 'WAITS = True' "$file"; then waiting="$waiting $name"
    else working="$working $name"; fi
done

play() { # FOLDER SCENARIO...: in one guest
    folder=$1
    shift
    [ $# -gt 0 ] || return 0
    mkdir -p "$folder"
    : >"$folder/news"
    tar -cf "$folder/devices.tar" -C "$checkout" Devices
    set -- "$checkout/.build/lab/venv/bin/python" "$checkout/Tests/Lab/guest.py" "$folder" "$programs" "$@"
    browser="$checkout/.build/page/venv/bin/python $checkout/Tests/Page/pair.py"
    case $browser in *' '*' '*) ;; *) [ ! -x "${browser%% *}" ] || export LAB_DOOR="$browser" ;; esac
    for name in LAB_DOOR LAB_SOAK LAB_SEED LAB_KEEP LAB_RECORDING LAB_DEVICES LAB_EDGES LAB_RATES WAKEBRIDGE_CAPTURES WAKEBRIDGE_LOG; do
        value=$(printenv "$name") && set -- "$name=$value" "$@"
    done
    Tests/Lab/machine.sh -t "$limit" "$folder" env "$@" &
    machine=$!
    trap 'kill "$machine" 2>/dev/null; exit 143' TERM
    tail -s 1 -n +1 -f --pid="$machine" "$folder/news" &
    status=0
    wait "$machine" || status=$?
    wait
    # A guest that came to its end says itself what failed in it.
    [ "$status" -gt 1 ] || return "$status"
    for said in out console; do
        [ ! -f "$folder/$said" ] || tail -n 30 "$folder/$said" | sed "s/^/lab: $said: /"
    done
    played=guest
    [ ! -f "$folder/report" ] || played=$(sed -n 's/^SCENARIO \([^:]*\):.*/\1/p' "$folder/report" | tail -n 1)
    echo "FAIL: the guest ended with $status in the midst of it" >>"$folder/report"
    echo "lab: FAILED $played: the guest ended with $status in the midst of it" | tee -a "$folder/news"
    return "$status"
}

play_alone() { # FOLDER SCENARIO...: one after the other, each in a machine of its own
    folder=$1
    shift
    [ $# -gt 0 ] || return 0
    mkdir -p "$folder"
    : >"$folder/news"
    nice -n 10 /usr/bin/python3 Tests/Lab/alone.py "$folder" "$programs" "$@" >"$folder/out" &
    machine=$!
    trap 'kill "$machine" 2>/dev/null; exit 143' TERM
    tail -s 1 -n +1 -f --pid="$machine" "$folder/news" &
    status=0
    wait "$machine" || status=$?
    wait
    [ "$status" -le 1 ] && [ -s "$folder/news" ] || tail -n 30 "$folder/out" | sed 's/^/lab: out: /'
    return "$status"
}

# shellcheck disable=SC2086 # these are lists of words
play "$folder" $working &
first=$!
# shellcheck disable=SC2086
play "$folder-beside" $waiting &
second=$!
# shellcheck disable=SC2086
play_alone "$folder-alone" $alone &
third=$!
trap 'kill "$first" "$second" "$third" 2>/dev/null; exit 143' TERM INT HUP
failed=0
for one in "$first" "$second" "$third"; do wait "$one" || failed=1; done
# Three spoke at once, so what failed is said again.
[ "$failed" = 0 ] || cat "$folder"*/news | grep '^lab: FAILED' || true
exit "$failed"
