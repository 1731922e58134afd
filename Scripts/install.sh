#!/bin/sh
# Puts what was built where PREFIX says, or with --remove takes it away. Called by `make install` and by Scripts/deb.sh.
# usage: install.sh BINARIES|--remove DESTDIR PREFIX UNITDIR
set -eu
cd "$(dirname "$0")/.."

from=$1 root=$2 prefix=$3 units=$4
bin=$root$prefix/bin
share=$root$prefix/share
lib=$root$prefix/lib
rules=$lib/udev/rules.d
case $prefix in /usr) zsh=$share/zsh/vendor-completions ;; *) zsh=$share/zsh/site-functions ;; esac
# Debian's Python looks here for packages, whatever its version. Below another prefix it looks in a folder of its version, if in any.
python=$prefix/lib/python3/dist-packages
if [ "$prefix" != /usr ]; then
    python=$(/usr/bin/python3 -c 'import sys; print(*[p for p in sys.path if p.startswith(sys.argv[1])][:1] or [sys.argv[2]])' \
        "$prefix/lib/python" "$python" 2>/dev/null || echo "$python")
fi
python=$root$python/wakehandler
bash=$share/bash-completion/completions/wakebridge zsh=$zsh/_wakebridge fish=$share/fish/vendor_completions.d/wakebridge.fish

if [ "$from" = --remove ]; then
    # A unit that stays enabled would be looked for at every boot.
    if [ -z "$root" ] && [ -d /run/systemd/system ]; then
        systemctl disable --now wakebridged.service 2>/dev/null || true
        # What moves files outlives the daemon. It keeps what has come.
        systemctl stop 'wakebridge-transferd-*.scope' 2>/dev/null || true
    fi
    rm -f "$bin/wakebridge" "$bin/wakebridged" "$bin/wakebridge-transferd" "$bash" "$zsh" "$fish" "$root$units/wakebridged.service" \
        "$lib/systemd/user/wakebridged.service" "$lib/sysusers.d/wakebridge.conf" "$lib/tmpfiles.d/wakebridge.conf" \
        "$share/man/man1/wakebridge.1" "$share/man/man8/wakebridged.8" \
        "$rules/70-wakebridge.rules" "$rules/91-wakebridge-braille.rules"
    rm -rf "$share/wakebridge" "$share/doc/wakebridge" "$python"
    if [ -z "$root" ]; then
        echo "Kept: events and state in /var/lib/wakebridge, your handlers and settings in /etc/wakebridge."
    fi
    exit 0
fi

put() { # MODE FILE DESTINATION
    install -D -m "$1" "$2" "$3"
    echo "  $3"
}

put_tree() { # FOLDER DESTINATION FIND-TEST...: its files, but those that the test leaves out
    folder=$1 destination=$2
    shift 2
    find "$folder" -type f "$@" | LC_ALL=C sort | while IFS= read -r file; do
        [ -x "$file" ] && mode=755 || mode=644
        put "$mode" "$file" "$destination/${file#"$folder"/}"
    done
}

# Pages lie as in the checkout, so their links between each other hold. What is installed elsewhere is linked there; what is not
# installed, or packed by Debian, is named without a link.
put_page() { # FILE DESTINATION
    install -d "$(dirname "$2")"
    sed -E -e '/^## For people who change the bridge$/,$d' \
        -e 's,\[([^][]*)\]\((\.\./)*(docs/)?(dev/|man/|CONTRIBUTING\.md)[^)]*\),\1,g' \
        -e 's,\]\(((\.\./)*)Devices/,](\1../../wakebridge/Devices/,g' -e 's,\]\(((\.\./)*)Examples/handlers,](\1examples,g' \
        -e 's,\]\(((\.\./)*)Examples/fleet,](\1examples/fleet,g' "$1" >"$2"
    chmod 644 "$2"
    echo "  $2"
}

# A unit is told where its daemon lies.
put_unit() { # UNIT DESTINATION
    install -d "$(dirname "$2")"
    sed "s|/usr/bin/wakebridged|$prefix/bin/wakebridged|g" "$1" >"$2"
    chmod 644 "$2"
    echo "  $2"
}

put 755 "$from/wakebridge" "$bin/wakebridge"
put 755 "$from/wakebridged" "$bin/wakebridged"
put 755 "$from/wakebridge-transferd" "$bin/wakebridge-transferd"
put 644 docs/man/wakebridge.1 "$share/man/man1/wakebridge.1"
put 644 docs/man/wakebridged.8 "$share/man/man8/wakebridged.8"
# What is built for another machine does not run here: WAKEBRIDGE_TOOL then names a tool that does.
complete() { # SHELL DESTINATION
    install -d "$(dirname "$2")"
    "${WAKEBRIDGE_TOOL:-$from/wakebridge}" completion "$1" >"$2"
    chmod 644 "$2"
    echo "  $2"
}
complete bash "$bash"
complete zsh "$zsh"
complete fish "$fish"
for file in udev/*.rules; do put 644 "$file" "$rules/${file#udev/}"; done
put 644 Packages/systemd/sysusers.conf "$lib/sysusers.d/wakebridge.conf"
put 644 Packages/systemd/tmpfiles.conf "$lib/tmpfiles.d/wakebridge.conf"
put_unit Packages/systemd/wakebridged.service "$root$units/wakebridged.service"
put_unit Packages/systemd/wakebridged.user.service "$lib/systemd/user/wakebridged.service"

# Profiles and recordings, without the published messages that the tests read.
put_tree Devices "$share/wakebridge/Devices" ! -name vectors.json5
# The Swift library's sources, for handlers that are built on this machine, and the Python module.
Scripts/wakehandler.sh "$share/wakebridge" >/dev/null
rm -rf "$share"/wakebridge/wakehandler-*.tar.gz "$share/wakebridge/wakehandler/Devices"
# The daemon and the tests of handlers share a library.
ln -s ../Devices "$share/wakebridge/wakehandler/Devices"
echo "  $share/wakebridge/wakehandler"
put_tree Packages/python/wakehandler "$python" ! -name '*.pyc'
put 644 Packages/grafana/wakebridge.json "$share/wakebridge/grafana/wakebridge.json"
put_tree Examples/handlers "$share/doc/wakebridge/examples"
put_tree Examples/fleet "$share/doc/wakebridge/examples/fleet"
put_tree docs "$share/doc/wakebridge/docs" ! -name '*.md' ! -path 'docs/man/*' ! -path 'docs/dev/*'
find README.md CHANGELOG.md SECURITY.md docs -name '*.md' ! -path 'docs/dev/*' | LC_ALL=C sort | while IFS= read -r page; do
    put_page "$page" "$share/doc/wakebridge/$page"
done
put 644 LICENSE "$share/doc/wakebridge/LICENSE"

# A root that is filled for another machine has no systemd and no udev to tell. Neither reads files below other prefixes.
if [ -z "$root" ]; then
    case $prefix in
        /usr | /usr/local) users='' folders='' ;;
        *) users=" $lib/sysusers.d/wakebridge.conf" folders=" $lib/tmpfiles.d/wakebridge.conf" ;;
    esac
    echo "The group, a user and the folders are made by: sudo systemd-sysusers$users && sudo systemd-tmpfiles --create$folders"
    echo "The udev rules hold from then on with: sudo udevadm control --reload && sudo udevadm trigger"
    [ -z "$users" ] || echo "udev reads no rules below $prefix: copy those of $rules to /etc/udev/rules.d first"
fi
