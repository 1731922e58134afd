#!/bin/sh
# Builds for speed: what is installed, and what is measured. Options are handed on: Scripts/release.sh --product wakebridge
# The programs are linked from the objects of the tests' build, so that users run the code that was tested. Objects that are missing
# are compiled. A build for another processor has no tests beside it, and compiles everything itself.
set -eu
cd "$(dirname "$0")/.."

# Swift's C++ is linked as Swift itself is: a quarter of what the loader does at each start would be libstdc++'s.
# RELEASE_SCRATCH and RELEASE_LIBSTDCXX name other places, for another processor.
scratch=${RELEASE_SCRATCH:-.build/static}
case ${RELEASE_SCRATCH:-}$* in
--show-bin-path) echo "$PWD/$scratch/bin" && exit ;;
esac
# The objects are those that root's tests were compiled to (Scripts/place.py).
if [ -z "${RELEASE_SCRATCH:-}" ] && [ "$(id -u)" = 0 ] && [ -z "${IN_PLACE:-}" ]; then
    exec env IN_PLACE=yes Scripts/place.py checkout Scripts/release.sh "$@"
fi
libraries=$scratch/lib
archive=${RELEASE_LIBSTDCXX:-$(gcc -print-file-name=libstdc++.a)}
mkdir -p "$libraries"
if [ -f "$archive" ]; then
    ln -sf "$archive" "$libraries/libstdc++.a"
else
    rm -f "$libraries/libstdc++.a"
    echo "release.sh: there is no libstdc++.a, so it is linked dynamically, and a start takes longer" >&2
fi

# Swift's static libraries make the program export every symbol of its modules, and the linker keeps all that is exported: a sixth
# more with -enable-testing. The linker's sum of the program would cover debugging information, which has paths.
linking="-Xlinker --no-export-dynamic -Xlinker --build-id=none"

# What a wake executes lies on half as many pages where its functions stand beside each other (docs/dev/performance-log.md). The
# list's name has its sum: what is linked with another is linked again.
lld=
tools=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/../../bin
if [ -x "$tools/ld.lld" ] || command -v ld.lld >/dev/null; then
    lld="-Xswiftc -use-ld=lld"
    list=$libraries/wake-$(cksum <Scripts/wake.order | cut -d ' ' -f 1).order
    cp Scripts/wake.order "$list"
    linking="$linking -Xlinker --symbol-ordering-file=$list -Xlinker --no-warn-symbol-ordering"
    # A megabyte less to read at each start; what loads programs knows such a one since glibc 2.36.
    glibc=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
    if [ "$(printf '%s\n' 2.36 "$glibc" | sort -V | head -n 1)" = 2.36 ]; then
        linking="$linking -Xlinker -z -Xlinker pack-relative-relocs"
    fi
else
    echo "release.sh: there is no ld.lld beside swiftc, so functions are linked as they come, and a wake takes longer" >&2
fi

# Swift's sum of each module has its path in it and serves builds alone. Debug builds check every access to memory for exclusivity.
# An installed program looks for libraries where the machine keeps them, not beside itself.
if [ -n "${RELEASE_SCRATCH:-}" ]; then
    [ -z "$lld" ] || lld="$lld -Xswiftc -Xfrontend -Xswiftc -function-sections"
    # shellcheck disable=SC2086  # several words; they have no spaces
    exec swift build --configuration release --static-swift-stdlib --disable-local-rpath --scratch-path "$scratch" \
        -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xswiftc -enforce-exclusivity=unchecked \
        $lld $linking -Xlinker "-L$libraries" "$@"
fi

[ "${1:-}" = --product ] && [ $# = 2 ] || { echo "usage: release.sh --product PROGRAM | --show-bin-path" >&2; exit 2; }
product=$2

Scripts/tested.sh "$@"
built=$(Scripts/tested.sh --show-bin-path)
module=$(echo "$product" | tr - _)
program=$scratch/bin/$product
mkdir -p "$scratch/bin" "$scratch/linked"
# Modules that only a debugger of Swift reads are left out.
objects=$scratch/linked/$product
sed "/\.swiftmodule\.o'*\$/d" "$built/$product.product/Objects.LinkFileList" >"$objects.objects"
# SwiftPM gives the entry of a program that tests import another name.
# shellcheck disable=SC2086  # several words; they have no spaces
set -- -static-stdlib ${lld#-Xswiftc } -Xlinker --gc-sections -Xlinker --defsym -Xlinker "main=${module}_main" $linking \
    "-L$libraries" "@$objects.objects" -lm
asked=$(echo "$tools $*" | cat - "$objects.objects" | cksum)
if [ "$(cat "$objects.asked" 2>/dev/null)" != "$asked" ] || [ ! -f "$program" ] ||
    [ -n "$(xargs sh -c 'find "$@" -newer "$0"' "$program" <"$objects.objects")" ]; then
    rm -f "$objects.asked"
    # A program that runs keeps its old file.
    swiftc -emit-executable -module-name "$module" "$@" -o "$program.new"
    mv -f "$program.new" "$program"
    echo "$asked" >"$objects.asked"
fi
