// What udev or systemd would start for an event: reads it, says when it had it, answers with a byte.  event BOARD
#include "benchmark_probe.h"

#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    char line[256];
    if (read(0, line, sizeof line) <= 0)
        return 1;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    struct benchmark_board *board = count > 1 ? benchmark_board(words[1]) : NULL;
    if (!board || write(1, "x", 1) != 1)
        return 1;
    board->read_at = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    board->sequence++;
    __atomic_add_fetch(&board->reads, 1, __ATOMIC_RELEASE);
    return 0;
}
