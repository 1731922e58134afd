"""The page that a peer shares with whoever conducts the measurement; its words are those of benchmark_probe.h."""
import mmap
import os
import struct

WORDS = struct.Struct("=qQQQ")  # read_at, reads, resumed, sequence


class Board:
    def __init__(self, path):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.fstat(file).st_size < 1 << 16:
            os.ftruncate(file, 1 << 16)
        self.page = mmap.mmap(file, WORDS.size)
        os.close(file)

    def note(self, read_at):
        """One more read; the instant first, since the count is what others wait for."""
        _, reads, resumed, sequence = WORDS.unpack_from(self.page)
        struct.pack_into("=q", self.page, 0, read_at)
        struct.pack_into("=QQ", self.page, 16, resumed, sequence + 1)
        struct.pack_into("=Q", self.page, 8, reads + 1)
