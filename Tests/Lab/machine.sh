#!/bin/sh
# Runs a command as root in a throw-away virtual machine: this machine's own kernel package, over this machine's own /.
#
#   machine.sh [-t SECONDS] DIR COMMAND...
#
# The checkout and DIR stand in the guest at the same paths; only DIR is really written to. DIR/out gets what the command
# says, DIR/console the kernel's messages, and its exit status is ours. 124: the time (default 300 s, told to the command as
# MACHINE_LIMIT) ran out; 125: the guest ended without a status. Where the processor can be lent to a guest (KVM) it is;
# else all of it is emulated.
# LAB_DOOR is a command of this machine, of words without spaces: the guest talks with it at 10.0.2.100:8788. It is told at which
# port of this machine the guest's port 8787 is, once the guest has called its network card 10.0.2.15, and DIR.
# LAB_VENV is where virtme-ng was installed, LAB_KERNEL another kernel, LAB_ACCELERATOR `kvm` or `tcg` spares the probe.
set -eu
limit=300
[ "$1" != -t ] || { limit=$2; shift 2; }
mkdir -p "$1"
dir=$(readlink -f "$1")
shift
here=$(dirname "$(readlink -f "$0")")
checkout=$(readlink -f "$here/../..")
venv=$(readlink -f "${LAB_VENV:-$checkout/.build/lab/venv}")
kernel=${LAB_KERNEL:-$(find /boot -maxdepth 1 -name 'vmlinuz-*' | sort -V | tail -n 1)}
# virtme-ng hands paths on through a shell and the kernel's command line, and quotes none: it is given names without spaces.
names=$(mktemp -d /tmp/wakebridge-machine.XXXXXX)
runs=
trap 'rm -f "$names/dir" "$names/venv"; rmdir "$names"' EXIT
trap '[ -z "$runs" ] || kill "$runs"; exit 143' TERM INT HUP
ln -s "$dir" "$names/dir"
ln -s "$venv" "$names/venv"
export PATH="$names/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin" # virtme-ng itself looks for its parts on PATH
for PYTHONPATH in "$names"/venv/lib/python3*/site-packages; do export PYTHONPATH; done

# On some hosts /dev/kvm opens and every guest hangs in it, so only a kernel that speaks is believed.
accelerator() {
    [ -w /dev/kvm ] || { echo tcg; return; }
    timeout 15 qemu-system-x86_64 -accel kvm -cpu max -m 256 -nographic -no-reboot -nodefaults -serial stdio \
        -kernel "$kernel" -append "console=ttyS0 panic=-1" </dev/null 2>/dev/null |
        grep -q -m 1 'Linux version' && echo kvm || echo tcg
}
# The answer holds until the next boot.
known=$checkout/.build/lab/accelerator-$(cat /proc/sys/kernel/random/boot_id)
if [ -z "${LAB_ACCELERATOR:-}" ]; then
    mkdir -p "${known%/*}"
    [ -s "$known" ] || { accelerator >"$known.$$" 2>/dev/null; mv "$known.$$" "$known"; }
    LAB_ACCELERATOR=$(cat "$known")
fi
[ "$LAB_ACCELERATOR" = kvm ] && emulate= || emulate=--disable-kvm

quoted() { # WORD...: as one line of shell
    for word; do
        printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
    done
}

# The guest has a /tmp, /run and /var/tmp of its own, which may hide both.
rm -f "$dir/out" "$dir/status"
cat >"$dir/.guest" <<TEXT
set -e
cd /
# The guest's own / asks this machine again at each look; what stays as it is while the guest lives is remembered there.
mkdir -p /run/machine/whole $(quoted "$checkout" "$venv" "$dir")
mount -t 9p -o ro,trans=virtio,version=9p2000.L,access=any,msize=524288,cache=loose whole /run/machine/whole
mount --bind /run/machine/whole/usr /usr
mount --bind /run/machine/whole$(quoted "$checkout") $(quoted "$checkout")
mount --bind /run/machine/whole$(quoted "$venv") $(quoted "$venv")
mount --bind /run/machine/dir $(quoted "$dir")
cd $(quoted "$dir")
set +e
export MACHINE_LIMIT=$limit
( $(quoted "$@") ) >out 2>&1 </dev/null
echo \$? >status
sync
TEXT
cd /
devices="-fsdev local,id=whole,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=whole,mount_tag=whole"
if [ -n "${LAB_DOOR:-}" ]; then
    # Of those that the kernel gives to no program by itself: the guest takes it seconds later.
    port=$(/usr/bin/python3 -c '
import random, socket
while True:
    port = random.randrange(20000, 32000)
    with socket.socket() as one:
        if one.connect_ex(("127.0.0.1", port)):
            break
print(port)')
    net=user,id=door,restrict=on,hostfwd=tcp:127.0.0.1:$port-10.0.2.15:8787
    devices="$devices -netdev '$net,guestfwd=tcp:10.0.2.100:8788-cmd:$LAB_DOOR $port $names/dir' -device virtio-net-pci,netdev=door"
fi
# shellcheck disable=SC2086  # an option or nothing
timeout --kill-after=5 "$limit" vng --run "$kernel" $emulate --force-9p --memory "${LAB_MEMORY:-2G}" \
    --cpus "${LAB_CPUS:-2}" --qemu-opts="$devices" --rwdir="/run/machine/dir=$names/dir" \
    -- "bash /run/machine/dir/.guest" </dev/null >"$dir/console" 2>&1 &
runs=$!
wait "$runs" || {
    status=$?
    [ "$status" -ne 124 ] || exit 124
}
[ -s "$dir/status" ] || { echo "machine.sh: the guest ended without a status; see $dir/console" >&2; exit 125; }
exit "$(cat "$dir/status")"
