// What a broker sends, before Paho sees it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPaho.h"

/// The longest message that a connection takes, its topic and its packet identifier: longer packets are cut to this.
enum { LONGEST_BODY = WAKE_MQTT_LONGEST_MESSAGE + 1 + (2 + UINT16_MAX) + 2 };

/// Leads what the loaded library reads through the screen; a text that stays says why it cannot, and is null otherwise.
const char *screen_install(void *library);
/// Why the screen ended the connection that this thread reports the end of; null where it did not. Asked once.
const char *screen_fault(void);
