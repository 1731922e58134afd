"""A planted fault for Tests/Rules/shake_test.py: it waits for a while in place of an event, and so counts on a quick disk.

    race.py while   looks for its child's file after 150 ms
    race.py event   waits for the end of its child, and looks then

The child brings twelve records to the disk one by one, and then gives the file its name. It ends with 0 where the file is there.
"""
import os
import select
import sys
import tempfile

PATIENCE_S, RECORDS = 0.15, 12


def write(path):
    with open(path + ".new", "w", encoding="utf-8") as file:
        for record in range(RECORDS):
            file.write(f"{record}\n")
            file.flush()
            os.fsync(file.fileno())
    os.rename(path + ".new", path)


def main(manner):
    # In memory a sync takes no time by itself.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        path = os.path.join(folder, "file")
        child = os.fork()
        if child == 0:
            write(path)
            os._exit(0)
        if manner == "while":
            select.select([], [], [], PATIENCE_S)
        else:
            os.waitpid(child, 0)
        found = os.path.exists(path)
        if manner == "while":
            os.waitpid(child, 0)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
