// libudev whole: devices, their properties, the monitor and the enumeration. All of it imports as it is.
#pragma once
#include <libudev.h>
