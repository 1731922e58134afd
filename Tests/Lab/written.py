"""What stands in a file that another process is still writing: whole lines, whatever of the next is there already."""


def whole_lines(path, start=0):
    """The lines, as bytes with their ends, from the place `start` in bytes."""
    with open(path, "rb") as file:
        file.seek(start)
        return [line + b"\n" for line in file.read().split(b"\n")[:-1]]
