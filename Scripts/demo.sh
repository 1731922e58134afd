#!/bin/sh
# Plays the shipped heart-rate recording to a shell handler, and shows beside every beat what the kernel says about the
# handler's process: running, or frozen. It only looks: all that happens is done by `wakebridge replay`.
set -eu
cd "$(dirname "$0")/.."

# Its own test is in more of a hurry, and knows where the tool is.
speed=${SPEED:-4}
looks=${LOOKS:-8}
tool=${WAKEBRIDGE:-$(swift build --show-bin-path)/wakebridge}
work=$(mktemp -d)
player=
cleanup() {
    [ -z "$player" ] || kill -TERM "$player" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap '[ -z "$player" ] || kill -INT "$player" 2>/dev/null' INT TERM

# Freezing needs a cgroup that may be written to: root has one, and others get one from their own systemd.
inside=
if [ "$(id -u)" != 0 ] && systemd-run --user --scope --quiet -p Delegate=yes true 2>/dev/null; then
    inside="systemd-run --user --scope --quiet -p Delegate=yes"
fi

cat <<TEXT

A heart-rate strap was recorded; it is played at ${speed}x speed. A shell handler (Examples/handlers/count-beats.sh)
gets each beat, acknowledges it, and is frozen until the next one. The strip is what its cgroup.events said meanwhile,
every 20 ms:  # running   . frozen, using no processor at all

TEXT

mkfifo "$work/lines"
# shellcheck disable=SC2086  # a command and its options, or nothing
$inside "$tool" replay Devices/heart-rate-monitor/recording.trace --speed "$speed" \
    -- /bin/sh Examples/handlers/count-beats.sh >"$work/lines" 2>"$work/talk" &
player=$!

# Where the handler's process is; found at the first beat, since it is started by it.
find_leaf() {
    for leaf in $(find /sys/fs/cgroup -type d -path "*/wakebridge-replay-$player/*" 2>/dev/null); do
        echo "$leaf"
        return
    done
}

look() {
    if [ -z "$leaf" ]; then
        strip="$strip?"
    elif grep -q 'frozen 1' "$leaf/cgroup.events" 2>/dev/null; then
        strip="$strip."
    else
        strip="$strip#"
    fi
}

leaf=
while IFS= read -r line; do
    [ -n "$leaf" ] || leaf=$(find_leaf)
    strip=
    while [ ${#strip} -lt "$looks" ]; do
        look
        sleep 0.02
    done
    printf '  %-33s %s\n' "$line" "$strip"
done <"$work/lines"

status=0
wait "$player" || status=$?
player=
echo
cat "$work/talk"
[ -n "$leaf" ] || echo "(? : no cgroup could be had here, so the handler was stopped by signals. As root you see it frozen.)"
exit "$status"
