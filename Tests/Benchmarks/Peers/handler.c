// The null handler as a program of its own, so that a thousand of them fit.  handler BOARD [ANSWERS]
#include "benchmark_probe.h"

#include <stdlib.h>

int main(int count, char **words)
{
    struct benchmark_board *board = count > 1 ? benchmark_board(words[1]) : NULL;
    if (!board)
        return 1;
    benchmark_handle(board, count > 2 ? strtoull(words[2], NULL, 10) : UINT64_MAX);
    return 0;
}
