#!/bin/sh
# Lays out the Swift library of handler authors as a package of its own: DESTINATION/wakehandler, and the same as
# DESTINATION/wakehandler-VERSION.tar.gz, which is the same file whenever it is made of the same commit.
# usage: wakehandler.sh DESTINATION
set -eu
if [ $# -ne 1 ]; then
    echo "usage: wakehandler.sh DESTINATION" >&2
    exit 2
fi
mkdir -p "$1"
destination=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

version=$(Scripts/version.sh)
tree=$destination/wakehandler
rm -rf "$tree"
mkdir "$tree" "$tree/Sources"
cp -R Packages/wakehandler/. "$tree"
cp LICENSE "$tree"
echo "$version" >"$tree/VERSION"
# The targets that Packages/wakehandler/Package.swift names.
for target in $(sed -n 's/.*\.target(name: "\([A-Za-z]*\)".*/\1/p' Packages/wakehandler/Package.swift); do
    cp -R "Sources/$target" "$tree/Sources"
done
# Profiles and recordings, without the published messages that the tests read.
find Devices -type f ! -name vectors.json5 -print0 | tar --null --files-from=- -cf - | tar -C "$tree" -xf -

# Without a checkout of git there is no commit to take the time from.
time=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)}
archive=wakehandler-$version.tar.gz
tar -C "$destination" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$time" \
    --format=gnu --transform="s,^wakehandler,wakehandler-$version," -cf - wakehandler | gzip -9n >"$destination/$archive"
echo "$tree"
echo "$destination/$archive"
