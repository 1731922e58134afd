"""A fresh Debian that is booted beside this machine: systemd is its first process, and units run as on a machine of its own.

It shares this machine's kernel and network, and sees neither its devices nor its udevd. What it writes lies in a layer over
the folder it was made of, and goes with it. Needs root. Mounts and processes go with it too, however the script ends; a
layer that a killed script left is removed by the next one.
"""
import fcntl
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

# Run in namespaces of its own, in the folder of the layer: BASE CGROUP. What systemd could change of this machine is read-only.
BOOT = r"""
echo 0 >"$2/cgroup.procs"
exec unshare --mount --propagation private --pid --fork --kill-child --uts --ipc --cgroup sh -euc '
    mount --bind "$1" below
    mount -t overlay overlay -o lowerdir=below,upperdir=upper,workdir=work root
    cd root
    mount -t proc proc proc
    mount --bind proc/sys proc/sys
    mount -o remount,bind,ro proc/sys
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null || {
        mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
        mount -t cgroup2 cgroup2 sys/fs/cgroup
    }
    mount -t tmpfs -o mode=755 dev dev
    for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
        number=${node#*:}
        mknod -m 666 "dev/${node%%:*}" c "${number%:*}" "${number#*:}"
    done
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
    mount -t tmpfs -o mode=1777 shm dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mount -t tmpfs -o mode=755 run run
    mount -t tmpfs -o mode=1777 tmp tmp
    hostname raspberrypi
    exec chroot . /usr/bin/env -i container=wakebridge PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
' sh "$1"
"""
KNOWN = ("resolv.conf", "hosts", "ssl/certs/ca-certificates.crt")


class Container:
    def __init__(self, base):
        self.base = os.path.abspath(base)
        remove_left_layers(os.path.dirname(self.base))
        self.layer = tempfile.mkdtemp(prefix="layer-", dir=os.path.dirname(self.base))
        self.lock = lock(self.layer)
        # Any user of the container walks through its root.
        os.chmod(self.layer, 0o755)
        for name in ("below", "upper", "work", "root"):
            os.mkdir(os.path.join(self.layer, name))
        self.cgroup = os.path.join(cgroups(), "debian-%d" % os.getpid())
        os.makedirs(self.cgroup, exist_ok=True)
        self.process = self.home = None

    def __enter__(self):
        try:
            self.boot()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def boot(self):
        for name in KNOWN:
            if os.path.exists("/etc/" + name):
                place = os.path.join(self.layer, "upper/etc", name)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.copy(os.path.realpath("/etc/" + name), place)
        words = ["setpriv", "--pdeathsig", "KILL", "sh", "-euc", BOOT, "sh", self.base, self.cgroup]
        self.process = subprocess.Popen(words, cwd=self.layer, stdin=subprocess.DEVNULL)
        self.wait_for_boot()
        self.must("id pi >/dev/null 2>&1 || useradd --create-home --shell /bin/bash pi")
        self.home = self.must("echo ~pi").strip()
        self.must("echo 'pi ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/pi && chmod 440 /etc/sudoers.d/pi")

    def wait_for_boot(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit("the container ended while it booted, with status %d" % self.process.returncode)
            if self.first() and self.run("systemctl is-system-running")[1].strip() in ("running", "degraded"):
                return
            time.sleep(0.1)
        raise SystemExit("the container did not boot within a minute")

    def first(self):
        """Its first process as this machine numbers it, or None while there is none."""
        try:
            with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
                children = file.read().split()
            return int(children[0]) if children and os.readlink("/proc/%s/exe" % children[0]).endswith("/systemd") else None
        except OSError:
            return None

    def words(self, command, user="root"):
        """What runs a command of bash there, as a login of the user."""
        session = os.path.join(self.cgroup, "session")
        os.makedirs(session, exist_ok=True)
        move = ["sh", "-euc", 'echo 0 >"$0/cgroup.procs"; exec "$@"', session]
        enter = move + ["nsenter", "--target", str(self.first()), "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root", "--wd=/"]
        clean = ["env", "-i", "LANG=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        return enter + clean + ["runuser", "--login", user, "--session-command", command]

    def run(self, command, user="root", limit=1800):
        """Its exit status, and what it printed."""
        done = subprocess.run(self.words(command, user), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def must(self, command, user="root"):
        status, output = self.run(command, user)
        if status != 0:
            raise SystemExit("'%s' failed in the container with status %d: %s" % (command, status, output))
        return output

    def path(self, inside):
        """Where this machine sees a file of it."""
        return "/proc/%d/root%s" % (self.first(), inside)

    def give(self, path):
        """The file, by its path outside, to the first user."""
        os.chown(path, 1000, 1000)

    def text(self, text):
        """A page's text as it is for a reader inside."""
        return text

    def lend(self, folder):
        """Shows it a folder of this machine at the same path, read-only."""
        with open(os.devnull) as null:
            source = os.open(folder, os.O_PATH)
            place = self.path(folder)
            os.makedirs(place, exist_ok=True)
            words = ["nsenter", "--target", str(self.first()), "--mount", "sh", "-euc",
                     'mount --bind "/proc/self/fd/$1" "$2"; mount -o remount,bind,ro "$2"', "sh", str(source), place]
            subprocess.run(words, stdin=null, pass_fds=[source], check=True)
            os.close(source)

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        remove_cgroups(self.cgroup)
        shutil.rmtree(self.layer, ignore_errors=True)
        os.close(self.lock)


def lock(folder):
    """An open folder that is locked as long as it is open, or None where another process has it."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return opened
    except OSError:
        os.close(opened)
        return None


def remove_left_layers(folder):
    for layer in glob.glob(glob.escape(folder) + "/layer-*"):
        opened = lock(layer)
        if opened is not None:
            shutil.rmtree(layer, ignore_errors=True)
            os.close(opened)


def cgroups():
    """Where the unified hierarchy of this machine lies."""
    return "/sys/fs/cgroup" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "/sys/fs/cgroup/unified"


def remove_cgroups(root):
    """Those of processes that end now are busy for a moment longer."""
    end = time.monotonic() + 10
    while os.path.exists(root) and time.monotonic() < end:
        for folder, _, _ in os.walk(root, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass
        time.sleep(0.05)
