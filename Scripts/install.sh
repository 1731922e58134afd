#!/bin/sh
# Puts what was built where PREFIX says, or with --remove takes it away. Called by `make install`.
# usage: install.sh BINARIES|--remove DESTDIR PREFIX UNITDIR
set -eu
cd "$(dirname "$0")/.."

from=$1 root=$2 prefix=$3 units=$4
bin=$root$prefix/bin
share=$root$prefix/share
devices=$share/wakebridge/Devices
case $prefix in /usr) zsh=$share/zsh/vendor-completions ;; *) zsh=$share/zsh/site-functions ;; esac
bash=$share/bash-completion/completions/wakebridge zsh=$zsh/_wakebridge fish=$share/fish/vendor_completions.d/wakebridge.fish
rules=$root$prefix/lib/udev/rules.d

if [ "$from" = --remove ]; then
    rm -f "$bin/wakebridge" "$bin/wakebridged" "$bash" "$zsh" "$fish" \
        "$root$units/wakebridged.service" \
        "$share/man/man1/wakebridge.1" "$share/man/man8/wakebridged.8" \
        "$rules/70-wakebridge.rules" "$rules/91-wakebridge-braille.rules"
    rm -rf "$share/wakebridge"
    exit 0
fi

put() { # MODE FILE DESTINATION
    install -D -m "$1" "$2" "$3"
    echo "  $3"
}

put 755 "$from/wakebridge" "$bin/wakebridge"
put 755 "$from/wakebridged" "$bin/wakebridged"
put 644 docs/man/wakebridge.1 "$share/man/man1/wakebridge.1"
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
[ ! -f docs/man/wakebridged.8 ] || put 644 docs/man/wakebridged.8 "$share/man/man8/wakebridged.8"

# Profiles and recordings; not the scripts they were made with.
find Devices -type f ! -name '*.py' | while IFS= read -r file; do
    put 644 "$file" "$devices/${file#Devices/}"
done

# The unit is told where its daemon lies.
unit=$(find Sources/wakebridged docs -name wakebridged.service 2>/dev/null | head -n 1)
if [ -n "$unit" ]; then
    install -d "$root$units"
    sed "s|/usr/bin/wakebridged|$prefix/bin/wakebridged|g" "$unit" >"$root$units/wakebridged.service"
    chmod 644 "$root$units/wakebridged.service"
    echo "  $root$units/wakebridged.service"
fi

# A root that is filled for another machine has no udev to tell.
if [ -z "$root" ]; then
    echo "The udev rules hold from now on with: sudo udevadm control --reload && sudo udevadm trigger"
    case $prefix in
        /usr | /usr/local) ;;
        *) echo "udev reads no rules below $prefix: copy those of $rules to /etc/udev/rules.d first" ;;
    esac
fi
