// The files of the page, which the program carries within itself.
#pragma once
#include <stddef.h>

struct wake_page_file {
    const char *name;
    const unsigned char *bytes, *end;
};

/// The file of a number, from 0; null behind the last.
const struct wake_page_file *wake_page_file(size_t number);
