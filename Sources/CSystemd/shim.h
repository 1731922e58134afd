// What this one reason needs: sd-event, sd-bus by its non-variadic calls, sd_notify, and the epoll masks that sd-event takes.
// All of it imports as it is.
#pragma once
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
