// Calls that a loaded library makes to others, led here instead.
#pragma once
#include <stdbool.h>

/// Leads what the library around `inside` calls by `name` to `instead`; false where it calls nothing by that name.
bool wake_redirect_calls(const void *inside, const char *name, void *instead);
