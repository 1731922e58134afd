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
BUSYBOX = "/bin/busybox"
APPLETS = ["sh", "date"]
PACKAGES = ["asyncio", "collections", "concurrent", "ctypes", "email", "encodings", "importlib", "json", "logging", "re",
            "urllib", "xml"]


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
        """The file, link or folder at `path` with all in it, and what leads there; it will stand at `under`, if given."""
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


def libraries(objects):
    told = subprocess.run(["ldd", *objects], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    rows = [line.split() for line in told.splitlines() if line.startswith("\t")]
    return sorted({word for row in rows for word in row if word.startswith("/")})


def contents(programs):
    """The daemon and the tool, Debian's Python with what the lab imports, and what all of these load."""
    python = os.path.realpath("/usr/bin/python3")
    library = os.path.join("/usr/lib", os.path.basename(python))
    bindings = glob.glob("/usr/lib/python3/dist-packages/_dbus*.so")
    objects = [BUSYBOX, python, *(os.path.join(programs, name) for name in ("wakebridged", "wakebridge")),
               # The daemon looks for it when its control socket is asked for the first time.
               *glob.glob("/usr/lib/*-linux-gnu/libmicrohttpd.so.12")]
    modules = glob.glob(f"{library}/lib-dynload/*.so")
    found = [*objects, "/usr/bin/python3", *libraries([*objects, *modules, *bindings]), *glob.glob(f"{library}/*.py"), *modules,
             *(os.path.join(library, name) for name in PACKAGES), *bindings, "/usr/lib/python3/dist-packages/dbus",
             "/usr/share/zoneinfo/UTC", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"]
    return [path for path in found if os.path.lexists(path)]


def build(path, programs, folder, command):
    """Beside what they need, the lab at its own place; `command` is played, and the machine ends."""
    ark = Ark(path)
    ark.text("/init", INIT.format(command=command))
    for part in [*contents(programs), folder]:
        ark.add(part)
    for applet in APPLETS:
        ark.entry(f"usr/bin/{applet}", stat.S_IFLNK | 0o777, data=BUSYBOX.encode())
    ark.end()
