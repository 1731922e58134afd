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

make_venv() { # REQUIREMENTS PYTHON OPTION...: $place/venv with the pinned parts, again where they changed
    wanted=$1 python=$2 venv=$place/venv
    shift 2
    ! cmp -s "$wanted" "$venv/requirements.txt" || return 0
    command -v "$python" >/dev/null || give_up "there is no $python here"
    echo "$(basename "$0" .sh): installing what $wanted names into $venv" >&2
    rm -rf "$venv"
    quietly "$python" -m venv "$@" "$venv" || without_venv "$python -m venv failed (Debian: apt-get install python3-venv)"
    quietly "$venv/bin/pip" --disable-pip-version-check install --requirement "$wanted" ||
        without_venv "pip could not install what $wanted names"
    cp "$wanted" "$venv/requirements.txt"
}

# Half an environment must not be taken for a whole one.
without_venv() {
    rm -rf "$venv"
    give_up "$*"
}
