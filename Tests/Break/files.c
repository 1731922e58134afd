// Preloaded into a program: once its libraries are loaded it may open no file beyond the number OPEN_FILES, so that a test can show what
// its own start makes of that.
#include <stdlib.h>
#include <sys/resource.h>

__attribute__((constructor)) static void limit(void) {
    rlim_t count = (rlim_t)atol(getenv("OPEN_FILES"));
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){count, count});
}
