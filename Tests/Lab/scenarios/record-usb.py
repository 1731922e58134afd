"""What usbmon captures of USB accessories is, in our import, each report and line that they sent, and as many as tshark counts."""
import os
import shutil
import signal
import subprocess

import gadget
from lab import until
from visit import LINE, Visit, lines, profile

WAITS = True
# tshark alone takes minutes where the guest has a tenth of a processor.
LIMIT = 800


def values(trace, channel):
    with open(trace) as text:
        words = [line.split() for line in text]
    return [bytes.fromhex(one[4]) for one in words if one[2:3] == ["data"] and one[3] == channel]


def transfers(file):
    """What came from devices: of each transfer its type and its length."""
    words = "usb.urb_type == 'C' && usb.endpoint_address.direction == 1 && usb.data_len > 0"
    fields = [word for name in ("device_address", "transfer_type", "data_len") for word in ("-e", f"usb.{name}")]
    done = subprocess.run(["tshark", "-r", file, "-Y", words, "-T", "fields", *fields], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=600)
    found = [line.split() for line in done.stdout.decode().splitlines()]
    # The first device of each bus is the kernel's own hub.
    return [(int(transfer, 0), int(length)) for device, transfer, length in found if device != "1"]


def run(lab):
    if not shutil.which("dumpcap"):
        return lab.skip("dumpcap is not installed here, so that USB is not captured")
    lab.attach(profile("lab-reports", "hid", 0x0A02), profile("lab-line", "serial", 0x0A01, framing=LINE))
    subprocess.run(["modprobe", "usbmon"], check=True)
    file, trace = os.path.join(lab.folder, "usb.pcapng"), os.path.join(lab.folder, "usb.trace")
    recorder = lab.process("dumpcap", "dumpcap", "-q", "-i", "usbmon0", "-w", file)
    until(lambda: os.path.exists(file) and os.path.getsize(file) > 100, 20)

    wired = Visit(lab, lab.gadget(gadget.NUMBERED, product=0x0A02, serial="H0001"), "lab-reports", "hidraw*")
    wired.comes()
    reports = [b"\2" + number.to_bytes(7, "little") for number in range(1, 41)]
    wired.says(reports)
    line = Visit(lab, lab.gadget("acm", port=1, product=0x0A01, serial="L0001"), "lab-line", "ttyACM*")
    line.comes()
    said = lines("line", range(40))
    line.says(said)
    wired.goes()
    line.goes()
    recorder.kill(signal.SIGINT)

    text, status = lab.bridge.tool("import", file, "-o", trace)
    lab.claim("import takes it", status == 0, text)
    lab.claim("each report is in the trace, by its number", values(trace, "report-2") == reports, values(trace, "report-2")[:3])
    heard = values(trace, "serial")
    lab.claim("each line is in the trace", heard == [one.rstrip(b"\r\n") for one in said], heard[:3])
    with open(trace) as text:
        devices = [one for one in text if one.startswith("device ")]
    lab.claim("both are called as udev calls them, and the hubs are no devices of it",
              all("1209:0a0" in one for one in devices) and len(devices) == 2, devices)
    heard = transfers(file)
    # What the line says of its state, beside its data, is longer.
    lab.claim("tshark counts as many reports", heard.count((1, 8)) == len(reports), heard)
    lab.claim("tshark finds the line's data", any(transfer == 3 for transfer, _ in heard), heard)
