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
# Profiles and recordings, without the published messages that the tests read and the scripts that made them.
cp -R Devices "$tree"
find "$tree/Devices" \( -name '*.py' -o -name vectors.json5 \) -exec rm {} +
find "$tree/Devices" -depth -type d -empty -exec rmdir {} \;

# Without a checkout of git there is no commit to take the time from.
time=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)}
archive=wakehandler-$version.tar.gz
# Not by tar, whose options for this differ between Linux and macOS.
python3 - "$tree" "$destination/$archive" "wakehandler-$version" "$time" <<'PYTHON'
import gzip, os, sys, tarfile

tree, archive, root, time = sys.argv[1:]


def entry(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(time)
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


with open(archive, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder, folders, names in os.walk(tree):
            folders.sort()
            place = os.path.join(root, os.path.relpath(folder, tree)) if folder != tree else root
            tar.add(folder, place, recursive=False, filter=entry)
            for name in sorted(names):
                tar.add(os.path.join(folder, name), f"{place}/{name}", filter=entry)
PYTHON
echo "$tree"
echo "$destination/$archive"
