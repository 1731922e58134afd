#!/bin/sh
# Builds the Debian package: .build/deb/wakebridge_VERSION_ARCH.deb. Built on Debian 12, it serves Debian 12 and 13 and Raspberry Pi OS.
# Built twice from one commit, it has the same bytes: every time in it is the commit's.
# A commit that is tagged as this version is packaged only if `prove.py --check` passes, since people get that package.
# PROVING=yes packages it regardless, for the proofs themselves.
# usage: deb.sh [amd64|arm64]
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

own=$(dpkg --print-architecture)
arch=${1:-$own}
version=$(Scripts/version.sh)
place=$PWD/.build/deb
stage=$place/$arch
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct)}"

# A tarball has no tags, and a commit without one is packaged at any time.
is_released() {
    [ -e .git ] && git -c safe.directory='*' tag --points-at HEAD | grep -qxF -e "$version" -e "v$version"
}

make_tools() {
    need debhelper command -v dh
    need dpkg-dev command -v dpkg-buildpackage
    need fakeroot command -v fakeroot
    need lintian command -v lintian
    [ "$arch" = "$own" ] || need binutils-aarch64-linux-gnu command -v aarch64-linux-gnu-strip
    install_missing "no package can be built"
}

# Prints the folder of the programs. Those of this machine are wanted for either: completions are what the tool prints, and
# dpkg-shlibdeps finds the libraries of this architecture alone.
build_own() {
    for program in wakebridged wakebridge wakebridge-transferd; do Scripts/release.sh --product "$program" >&2; done
    Scripts/release.sh --show-bin-path
}

# dpkg's changelog, from the newest release of ours.
changelog() {
    echo "wakebridge ($version) stable; urgency=medium"
    echo
    awk -v version="$version" '
        $1 == "##" { in_release = $2 == version }
        in_release && sub(/^- /, "  * ") { print; next }
        in_release && /^  / { print "  " $0 }' CHANGELOG.md | fold -s -w 76 | sed 's/^\([^ ]\)/    \1/'
    echo
    echo " -- $(git -c safe.directory='*' log -1 --format='%an <%ae>')  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")"
}

needs() { readelf --dynamic "$1/wakebridge" "$1/wakebridged" "$1/wakebridge-transferd" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | grep -v '^ld-linux'; }

# What dpkg-shlibdeps says of this machine's programs holds for those of another architecture that need the same libraries.
# It cannot see that packed relocations need glibc 2.36, and on a newer Debian it may see more.
depends() {
    (
        cd "$stage/source"
        dpkg-shlibdeps -O -e"$own_programs/wakebridge" -e"$own_programs/wakebridged" \
            -e"$own_programs/wakebridge-transferd" 2>/dev/null
    ) | with_libc 2.36
}

case $arch in amd64 | arm64) ;; *) fail "there are packages for amd64 and arm64, and none for $arch" ;; esac
if [ "${PROVING:-}" != yes ] && is_released; then
    Scripts/prove.py --check >&2 || fail "$version is tagged, and it is not proven; above is which part, and how to prove it"
fi
make_tools
own_programs=$(build_own)
programs=$own_programs
if [ "$arch" != "$own" ]; then
    Scripts/arm64.sh >&2
    programs=$PWD/.build/arm64/bin
    [ "$(needs "$programs" | sed 's/x86-64\|aarch64//')" = "$(needs "$own_programs" | sed 's/x86-64\|aarch64//')" ] ||
        fail "the programs for $arch need other libraries than those for $own, so their packages are not known"
fi

rm -rf "$stage"
mkdir -p "$stage/source/debian"
cp -R Packages/debian/. "$stage/source/debian/"
cp Packages/systemd/wakebridged.service "$stage/source/debian/wakebridge.wakebridged.service"
cp Packages/systemd/sysusers.conf "$stage/source/debian/wakebridge.sysusers"
cp Packages/systemd/tmpfiles.conf "$stage/source/debian/wakebridge.tmpfiles"
changelog >"$stage/source/debian/changelog"
WAKEBRIDGE_TOOL=$own_programs/wakebridge Scripts/install.sh "$programs" "$stage/source/tree" /usr /usr/lib/systemd/system >/dev/null
depends >"$stage/source/depends"
grep -q libc6 "$stage/source/depends" || fail "dpkg-shlibdeps does not know the libraries of the programs"
(
    cd "$stage/source"
    quietly dpkg-buildpackage --build=binary --no-sign --no-check-builddeps --host-arch "$arch"
) || fail "dpkg-buildpackage failed; above is why"
mv "$stage/wakebridge_${version}_$arch.deb" "$place/"
check_weight "$place/wakebridge_${version}_$arch.deb" docs/explanation/performance.md
lintian --tag-display-limit 0 --fail-on error "$place/wakebridge_${version}_$arch.deb"
echo "$place/wakebridge_${version}_$arch.deb"
