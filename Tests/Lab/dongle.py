"""An adapter that can be pulled out: a controller of btvirt's, lent to the kernel through /dev/vhci while this runs."""
import os
import select
import socket
import sys


def whole(buffer):
    """How long the first packet of `buffer` is, by H4's kind and the packet's own header; None until that is here."""
    event, data = 4, 2
    if buffer[0] == event:
        return 3 + buffer[2] if len(buffer) > 2 else None
    if buffer[0] == data:
        return 5 + (buffer[3] | buffer[4] << 8) if len(buffer) > 4 else None
    raise ValueError(f"a controller sends no packets of kind {buffer[0]}")


def lend(controller, kernel):
    """Carries packets between two descriptors until either of them is gone."""
    heard = b""
    while True:
        ready, _, _ = select.select([controller, kernel], [], [])
        if kernel in ready:
            packet = os.read(kernel, 4096)
            if packet[0] != 0xFF:
                os.write(controller, packet)
        if controller in ready:
            chunk = os.read(controller, 4096)
            if not chunk:
                sys.exit("the controller is gone")
            heard += chunk
            while heard and (size := whole(heard)) and len(heard) >= size:
                os.write(kernel, heard[:size])
                heard = heard[size:]


def main():
    while True:
        kernel = os.open("/dev/vhci", os.O_RDWR)
        os.write(kernel, b"\xff\x00")
        try:
            with socket.socket(socket.AF_UNIX) as controller:
                controller.connect("/tmp/bt-server-le")
                lend(controller.fileno(), kernel)
        except OSError as error:
            # The kernel waits two seconds for a new controller's answers, which a busy host may not have.
            print("the kernel gave it up, it is plugged in again:", error, flush=True)
        os.close(kernel)


if __name__ == "__main__":
    main()
