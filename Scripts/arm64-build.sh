#!/bin/sh
# What Scripts/arm64.sh runs in the Debian 13 root: links daemon and tool for arm64 and starts them in an emulator as on Debian 12
# and 13. `arm64-build.sh tests` also compares a replay with amd64's, and runs the unit tests in the emulator.
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/arm64
oldest=$place/bookworm
newest=$place/trixie
swift=$newest/usr/libexec/swift/lib
triple=aarch64-unknown-linux-gnu
newest_glibc=2.36

# Headers and libraries are Debian 12's, and Swift's own parts Debian 13's.
describe_sdk() {
    bundle=$place/sdks/arm64.artifactbundle
    mkdir -p "$bundle/arm64"
    cat >"$bundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"arm64": {"type": "swiftSDK", "version": "1", "variants": [{"path": "arm64"}]}}}
JSON
    cat >"$bundle/arm64/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"$triple": {"sdkRootPath": "$oldest", "toolsetPaths": ["toolset.json"],
  "swiftResourcesPath": "$swift/swift", "swiftStaticResourcesPath": "$swift/swift_static"}}}
JSON
    cat >"$bundle/arm64/toolset.json" <<JSON
{"schemaVersion": "1.0", "rootPath": "/usr/libexec/swift/bin", "cCompiler": {"extraCLIOptions": ["--sysroot=$oldest"]},
  "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld", "-Xclang-linker", "--sysroot=$oldest"]}}
JSON
    # Swift asks each SDK for it, and warns of one without it in every module.
    echo '{"Version": "12.0", "VersionMap": {}, "CanonicalName": "linux12.0"}' >"$oldest/SDKSettings.json"
}

# Runs a command that builds for arm64: pkg-config finds no library of this machine.
crossed() {
    env PKG_CONFIG_SYSROOT_DIR="$oldest" PKG_CONFIG_PATH= \
        PKG_CONFIG_LIBDIR="$oldest/usr/lib/aarch64-linux-gnu/pkgconfig:$oldest/usr/share/pkgconfig" \
        "$@" --swift-sdks-path "$place/sdks" --swift-sdk arm64 </dev/null
}

compile_newer_glibc() {
    mkdir -p "$place/build/lib"
    /usr/libexec/swift/bin/clang --target=$triple --sysroot="$oldest" -O2 -Wall -Werror -fvisibility=hidden \
        -c Scripts/newer-glibc.c -o "$place/build/lib/newer-glibc.o"
}

release() {
    crossed env RELEASE_SCRATCH=.build/arm64/build \
        RELEASE_LIBSTDCXX="$newest/usr/lib/gcc/aarch64-linux-gnu/14/libstdc++.a" \
        Scripts/release.sh -Xlinker "$place/build/lib/newer-glibc.o" "$@"
}

build_programs() {
    compile_newer_glibc
    mkdir -p "$place/bin"
    for program in wakebridged wakebridge wakebridge-transferd; do
        release --product "$program" || fail "$program could not be built for arm64; above is why"
        cp "$(release --show-bin-path 2>/dev/null)/$program" "$place/bin/"
    done
}

prove_program() { # PROGRAM
    asked=$(readelf --version-info "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    highest=$(printf '%s\n' "GLIBC_$newest_glibc" "$asked" | sort -V | tail -n 1)
    [ "$highest" = "GLIBC_$newest_glibc" ] || fail "${1##*/} asks for $asked, which Debian 12 does not have"
    ! readelf --dynamic "$1" | grep -E 'RPATH|RUNPATH' || fail "${1##*/} looks for libraries beside itself"
    for suite in bookworm trixie; do
        version=$(qemu-aarch64 -L "$place/$suite" "$1" --version) || fail "${1##*/} does not start with the libraries of $suite"
        say "${1##*/}: $(stat -c %s "$1") bytes, at most $asked; with the libraries of $suite: $version"
    done
}

# The same recording through the tool of each processor; amd64's is built with the options of Scripts/debian13.sh.
compare_replays() {
    # shellcheck disable=SC2086  # several words
    swift build $speed --scratch-path .build/debian13/build --product wakebridge </dev/null ||
        fail "the tool could not be built for amd64, so there is nothing to compare with; above is why"
    # shellcheck disable=SC2086
    native=$(swift build $speed --scratch-path .build/debian13/build --show-bin-path)/wakebridge
    recording=Devices/heart-rate-monitor/recording.trace
    "$native" replay $recording --speed max >"$place/replay.amd64" || fail "amd64's tool could not replay $recording"
    qemu-aarch64 -L "$oldest" "$place/bin/wakebridge" replay $recording --speed max >"$place/replay.arm64" ||
        fail "arm64's tool could not replay $recording"
    cmp "$place/replay.amd64" "$place/replay.arm64" || fail "a replay of $recording differs between amd64 and arm64"
    say "a replay of $recording prints the same $(wc -l <"$place/replay.arm64") lines on amd64 and arm64"
}

# Shared Swift libraries are Debian 13's and ask for its glibc, so the tests run with that. Paths that the emulator finds in its
# folder hide this machine's, so that it has the libraries alone.
link_libraries() {
    mkdir -p "$place/libraries/usr/lib"
    ln -sfn usr/lib "$place/libraries/lib"
    ln -sfn "$newest/usr/lib/aarch64-linux-gnu" "$place/libraries/usr/lib/aarch64-linux-gnu"
    ln -sf aarch64-linux-gnu/ld-linux-aarch64.so.1 "$place/libraries/usr/lib/ld-linux-aarch64.so.1"
}

# The kernel starts no program of arm64, so tests start scripts of the programs' names.
emulate() { # PROGRAM
    cat >"$place/emulated/${1##*/}" <<SCRIPT
#!/bin/sh
exec /usr/bin/qemu-aarch64 -0 "\$0" -L '$place/libraries' '$1' "\$@"
SCRIPT
    chmod +x "$place/emulated/${1##*/}"
}

build_tests() {
    # shellcheck disable=SC2086  # several words
    set -- crossed swift build $speed --scratch-path .build/arm64/tests -Xlinker --allow-shlib-undefined
    "$@" --build-tests || fail "the tests could not be built for arm64; above is why"
    built=$("$@" --show-bin-path 2>/dev/null)
    link_libraries
    rm -rf "$place/emulated"
    mkdir "$place/emulated"
    for program in "$built"/*; do
        [ ! -f "$program" ] || [ ! -x "$program" ] || [ "${program%.so}" != "$program" ] || emulate "$program"
    done
}

goal=${1:-programs}
since=$(date +%s)
speed="-c release -Xswiftc -enable-testing"
need qemu-user command -v qemu-aarch64
need binutils command -v readelf
install_missing "no program of arm64 can be tried"
describe_sdk
build_programs
took "the programs"
for program in wakebridged wakebridge wakebridge-transferd; do prove_program "$place/bin/$program"; done
[ "$goal" = tests ] || exit 0
compare_replays
took "the replays"
build_tests
took "the tests' build"
TEST_BUNDLE=$place/emulated/wakebridgePackageTests.xctest TEST_SKIPS=Scripts/arm64.skips Scripts/test.py units ||
    fail "the unit tests fail on arm64; above is which"
took "the tests"
