"""A machine that is all in memory: programs with what they need, in an archive that a kernel unpacks as its first files.

Nothing of it is on a disk or at its host, so that it can sleep: what a host's files are reached by does not outlive that.
"""
import glob
import os
import stat
import subprocess

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /root /var/tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
for place in /run /tmp; do /bin/busybox mount -t tmpfs tmpfs $place; done
/bin/busybox mkdir /dev/shm
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
{command}
/bin/busybox poweroff -f
"""
APPLETS = ["sh", "date", "true", "mount"]


class Ark:
    """An archive in the form of `cpio -H newc`. Files keep their times: the daemon compares its own age with the clock."""

    def __init__(self, path):
        self.file, self.names = open(path, "wb"), {""}

    def entry(self, name, mode, mtime=0, data=b""):
        if name in self.names:
            return
        self.names.add(name)
        fields = [len(self.names), mode, 0, 0, 1, int(mtime), len(data), 0, 0, 0, 0, len(name) + 1, 0]
        for part in (b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0", data):
            self.file.write(part + bytes(-self.file.tell() - len(part) & 3))

    def end(self):
        self.entry("TRAILER!!!", 0)
        self.file.close()

    def text(self, path, text, mode=0o755):
        self.entry(path.lstrip("/"), stat.S_IFREG | mode, data=text.encode())

    def add(self, path, under=None):
        """The file, link or folder at `path` with all in it, and what leads there; it stands at `under` where that is said."""
        if under is None:
            path = self.lead(path)
        target = under or path
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            self.folders(target)
            for name in sorted(os.listdir(path)):
                self.add(os.path.join(path, name), under and os.path.join(under, name))
        elif stat.S_ISLNK(found.st_mode):
            self.entry(target.lstrip("/"), found.st_mode, found.st_mtime, os.readlink(path).encode())
            if under is None and os.path.exists(path):
                self.add(os.path.join(os.path.dirname(path), os.readlink(path)))
        elif stat.S_ISREG(found.st_mode):
            with open(path, "rb") as file:
                self.entry(target.lstrip("/"), found.st_mode, found.st_mtime, file.read())

    def folders(self, path):
        parts = path.strip("/").split("/")
        for count in range(1, len(parts) + 1):
            self.entry("/".join(parts[:count]), stat.S_IFDIR | 0o755)

    def lead(self, path):
        """Where `path` stands once the links among its folders are followed; these come along."""
        folder, name = os.path.split(os.path.normpath(path))
        place = "/"
        for part in folder.strip("/").split("/"):
            place = os.path.join(place, part)
            if os.path.islink(place):
                self.entry(place.lstrip("/"), stat.S_IFLNK | 0o777, data=os.readlink(place).encode())
                place = self.lead(os.path.join(os.path.dirname(place), os.readlink(place)))
        self.folders(place)
        return os.path.join(place, name)


def libraries(programs):
    told = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    words = {word for line in told.splitlines() for word in line.split() if line.startswith("\t") and word.startswith("/")}
    return sorted(words)


def build(path, programs, folder, command):
    """The lab at its own place, Debian's Python, and the two programs; `command` is played, and the machine ends."""
    ark = Ark(path)
    ark.text("/init", INIT.format(command=command))
    busybox = "/bin/busybox"
    python = os.path.realpath("/usr/bin/python3")
    library = os.path.join("/usr/lib", os.path.basename(python))
    packages = "/usr/lib/python3/dist-packages"
    parts = [*glob.glob(f"{library}/*.py"), *(f"{library}/{name}" for name in (
        "collections", "ctypes", "encodings", "importlib", "json", "re", "lib-dynload", "logging", "asyncio",
        "concurrent", "xml", "email", "urllib")), *glob.glob(f"{packages}/dbus"), *glob.glob(f"{packages}/_dbus*.so")]
    tools = [os.path.join(programs, name) for name in ("wakebridged", "wakebridge")]
    # What the daemon loads when its control socket is asked for the first time.
    objects = [*glob.glob("/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12"), busybox, python, *tools, *glob.glob(f"{library}/lib-dynload/*.so"), *glob.glob(f"{packages}/_dbus*.so")]
    zones = [f"/usr/share/zoneinfo/{name}" for name in ("UTC", "Europe/Berlin")]
    for part in [*objects[:1], "/bin/busybox", "/usr/bin/python3", *tools, *libraries(objects), *parts, folder, *zones, "/etc/localtime",
                 "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"]:
        if os.path.lexists(part):
            ark.add(part)
    for applet in APPLETS:
        ark.entry(f"usr/bin/{applet}", stat.S_IFLNK | 0o777, data=busybox.encode())
    ark.end()
