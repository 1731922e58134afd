// Screens what a broker sends before Paho reads it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPaho.h"

/// The longest packet body: the longest message, its topic and its packet identifier. Longer bodies are cut to this.
enum { LONGEST_BODY = WAKE_MQTT_LONGEST_MESSAGE + 1 + (2 + UINT16_MAX) + 2 };

/// Routes the reads of the loaded library through the screen. Returns null, or a static text with the reason why it
/// cannot.
const char *screen_install(void *library);
/// Why the screen ended the connection whose end this thread reports; null where it did not. The call clears the
/// reason.
const char *screen_fault(void);
