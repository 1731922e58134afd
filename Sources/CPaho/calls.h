// Redirects the calls of a loaded library to functions of ours.
#pragma once
#include <stdbool.h>

/// Redirects all calls of `name` from the library that contains `inside` to `instead`; false where it has no such call.
bool wake_redirect_calls(const void *inside, const char *name, void *instead);
