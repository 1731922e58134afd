#!/bin/sh
# Prints the options with which `swift build` replays what it compiled before, and nothing where this compiler cannot.
# All clones of a user share the cache: a module is compiled again only if its own inputs changed.
set -eu

# Older compilers do not know these options together with SwiftPM.
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | head -n 1)
[ -n "$version" ] || exit 0
[ "${version% *}" -gt 6 ] || { [ "${version% *}" -eq 6 ] && [ "${version#* }" -ge 3 ]; } || exit 0

# A user may have no home, and options are separated by spaces: then this clone keeps its own.
caches=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
place=$caches/wakebridge/compiled
case $caches in '' | *[[:space:]]*) place=$PWD/.build/compiled ;; esac
mkdir -p "$place" 2>/dev/null && [ -w "$place" ] || place=$PWD/.build/compiled
mkdir -p "$place"

# The compiler never shortens its cache.
limit_mib=${CACHE_LIMIT_MIB:-4096}
used_mib=$(du -sm "$place" | cut -f 1)
[ "$used_mib" -le "$limit_mib" ] || { rm -rf "$place"; mkdir -p "$place"; }

for option in -explicit-module-build -cache-compile-job -cas-path "$place"; do printf -- '-Xswiftc %s ' "$option"; done
