#!/bin/sh
# Builds for speed: what is installed, and what is measured. Options are handed on: Scripts/release.sh --product wakebridge
set -eu
cd "$(dirname "$0")/.."

# Swift's C++ is linked as Swift itself is: a quarter of what the loader does at each start would be libstdc++'s.
# RELEASE_SCRATCH and RELEASE_LIBSTDCXX name other places, for another processor.
scratch=${RELEASE_SCRATCH:-.build/static}
libraries=$scratch/lib
archive=${RELEASE_LIBSTDCXX:-$(gcc -print-file-name=libstdc++.a)}
mkdir -p "$libraries"
if [ -f "$archive" ]; then
    ln -sf "$archive" "$libraries/libstdc++.a"
else
    rm -f "$libraries/libstdc++.a"
    echo "release.sh: there is no libstdc++.a, so it is linked dynamically, and a start takes longer" >&2
fi

# What a wake executes lies on half as many pages where its functions stand beside each other (docs/dev/performance-log.md). The
# list's name has its sum: what is linked with another is linked again.
tools=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/../../bin
if [ -x "$tools/ld.lld" ] || command -v ld.lld >/dev/null; then
    list=$libraries/wake-$(cksum <Scripts/wake.order | cut -d ' ' -f 1).order
    cp Scripts/wake.order "$list"
    set -- -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld \
        -Xlinker "--symbol-ordering-file=$list" -Xlinker --no-warn-symbol-ordering "$@"
    # A megabyte less to read at each start; what loads programs knows such a one since glibc 2.36.
    glibc=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
    if [ "$(printf '%s\n' 2.36 "$glibc" | sort -V | head -n 1)" = 2.36 ]; then
        set -- -Xlinker -z -Xlinker pack-relative-relocs "$@"
    fi
else
    echo "release.sh: there is no ld.lld beside swiftc, so functions are linked as they come, and a wake takes longer" >&2
fi

# The bytes are the same wherever the checkout lies. Swift's sum of each module has its path in it and serves builds alone, and the
# linker's sum of the program covers debugging information, which has paths too.
set -- -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xlinker --build-id=none "$@"

# The tests' builds check every access to memory for exclusivity; these need not do it again. A program that is installed looks
# for libraries where the machine keeps them, not beside itself.
exec swift build --configuration release --static-swift-stdlib --disable-local-rpath --scratch-path "$scratch" \
    -Xswiftc -enforce-exclusivity=unchecked -Xlinker "-L$libraries" "$@"
