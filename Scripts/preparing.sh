# What the prepare scripts share; each reads it with `.` from the package's folder. A script that makes something below .build
# says before in `place` where, and in `loss` what is not had where that cannot be made.
# shellcheck shell=sh

# Tests side by side each prepare what they need: one at a time, or they would call apt together, and take an environment that
# another has half made for a whole one. What a package starts does not inherit the lock.
in_turn() { # ARGUMENT...: of the script itself
    [ -z "${IN_TURN:-}" ] || return 0
    mkdir -p .build
    exec env IN_TURN=yes flock --close .build/preparing.lock sh "Scripts/$(basename "$0")" "$@"
}

missing=
need() { # PACKAGE TEST...: the package is wanted unless the test passes
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# Runs a command; its output is shown only if it fails.
quietly() {
    log=$(mktemp)
    status=0
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# For what can be done without: the reason is left where it is looked for, and the script ends well.
give_up() {
    mkdir -p "$place"
    echo "$*" >"$place/reason"
    echo "$(basename "$0" .sh): $*; $loss" >&2
    exit 0
}

make_venv() { # REQUIREMENTS PYTHON OPTION...: $place/venv leads to the environment with these pinned parts
    found=$(Scripts/venv.sh "$@") || give_up "$(echo "$found" | tail -n 1)"
    # Within .build the way is short: the checkout of the tests has another path.
    case $found in .build/*) found=..${found#.build} ;; esac
    mkdir -p "$place"
    [ "$(readlink "$place/venv")" != "$found" ] || return 0
    [ -L "$place/venv" ] || rm -rf "$place/venv"
    ln -sfn "$found" "$place/venv"
}
