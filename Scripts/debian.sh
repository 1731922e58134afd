# What the scripts share that make a Debian below .build; each reads it with `.` from the package's folder.
# shellcheck shell=sh
. Scripts/preparing.sh

PATH=$PATH:/usr/sbin:/sbin
speaker=${0##*/}
speaker=${speaker%.sh}

say() { echo "$speaker: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

# What took the time since this was said last.
took() {
    now=$(date +%s)
    say "$1 took $((now - since)) s"
    since=$now
}

check_machine() { # WORK: what only root can do, and only where there is apt
    [ "$(id -u)" = 0 ] || fail "only root can $1: run it as root, or with sudo"
    command -v apt-get >/dev/null || fail "there is no apt-get here to make a Debian with"
}

# The mirror that this machine's apt takes Debian itself from.
mirror() {
    known=$(apt-get indextargets --format '$(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian main //p' | head -n 1)
    echo "${known:-http://deb.debian.org/debian}"
}

# How this machine's apt reaches its mirror: proxies and the like.
apt_settings() { apt-config dump | grep -E '^Acquire::(https?|Retries|Check)' || true; }

# Passes on what dpkg-shlibdeps says, but asks for no older C library than that version.
with_libc() { # VERSION
    said=$(cat)
    asked=$(echo "$said" | sed -n 's/.*libc6 (>= \([^)]*\)).*/\1/p')
    [ -n "$asked" ] && dpkg --compare-versions "$asked" ge "$1" || asked=$1
    echo "$said" | sed "s/libc6 (>= [^)]*)/libc6 (>= $asked)/"
}

# Fails for a package that weighs over a tenth more than the page of figures states, so that nothing large is shipped unseen.
check_weight() { # PACKAGE PAGE
    stated=$(sed -n 's/^| the package; installed | \([0-9.]*\) MB; \([0-9.]*\) MB |.*/\1 \2/p' "$2")
    [ -n "$stated" ] || fail "the weight of $1 cannot be checked: $2 has no row of the package; add it"
    weight=$(echo "$(stat -c %s "$1") $(dpkg-deb --field "$1" Installed-Size) $stated" | awk '
        { printf "%.1f MB; %.1f MB", $1 / 1e6, $2 * 1024 / 1e6; exit $1 > $3 * 1.1e6 || $2 * 1024 > $4 * 1.1e6 }') ||
        fail "$1 weighs $weight installed, over a tenth more than $2 states: look for what grew with dpkg-deb --contents, or correct the page"
    say "$1 weighs $weight installed"
}

# Installs what `need` found missing.
install_missing() { # LOSS: what cannot be done without
    [ -n "$missing" ] || return 0
    say "installing$missing"
    quietly apt-get -qq update || say "going on with the package lists that are here"
    # shellcheck disable=SC2086  # a list of words
    quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $missing ||
        fail "apt-get could not install$missing, so $1"
    missing=
}

# Gives a Debian what a running one has. What is mounted goes with the last process of a script that `unshare` has set apart.
furnish() { # ROOT
    # A root that is a mount itself is one in which tests can have mounts of their own.
    mount --bind "$1" "$1"
    for tree in proc dev sys; do mount --rbind "/$tree" "$1/$tree"; done
    mount -t tmpfs -o mode=755 run "$1/run"
    mount -t tmpfs -o mode=1777 tmp "$1/tmp"
    # The mirror's certificate may be one that only this network knows.
    for known in resolv.conf hosts ssl/certs/ca-certificates.crt; do [ ! -e "/etc/$known" ] || cp -L "/etc/$known" "$1/etc/$known"; done
}

# A Debian below .build, and beside it how apt was told to reach the mirror.
make_debian() { # SUITE FOLDER OPTION...
    suite=$1 folder=$2
    shift 2
    need mmdebstrap command -v mmdebstrap
    need debian-archive-keyring test -e /usr/share/keyrings/debian-archive-trixie-stable.gpg
    install_missing "there is no Debian to build in"
    rm -rf --one-file-system "$folder"
    mkdir -p "$folder"
    apt_settings >"$folder.apt"
    from=$(mirror)
    say "making ${folder#"$PWD"/} from $from"
    quietly mmdebstrap --mode=root --aptopt="$folder.apt" "$@" "$suite" "$folder" "$from" ||
        fail "no Debian could be fetched from $from into $folder; above is why"
}

# Runs it there, with nothing of this environment but the way to the network.
inside() { # ROOT COMMAND
    chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" sh -euc "$2" </dev/null
}
