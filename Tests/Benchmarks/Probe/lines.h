// What the limits write: lines as long as those that the bridge writes for the same causes.
#pragma once

// The notice of the thaw, and the event.
static const char event_line[] =
    "{\"specversion\":\"1.0\",\"id\":\"j1-n1795251722000000-1042\",\"source\":\"/wakebridge\",\"type\":\"wakebridge.resumed\","
    "\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\",\"data\":{\"frozen_for_ms\":1,"
    "\"reason\":\"data\",\"open\":[]}}\n"
    "{\"specversion\":\"1.0\",\"id\":\"j1-1042\",\"source\":\"/bluetooth/C0:F1:F2:F3:F4:01\",\"type\":\"wakebridge.device.data\","
    "\"subject\":\"chest-strap\",\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\",\"seq\":1042,"
    "\"attempt\":1,\"budgetms\":10000,\"data\":{\"profile\":\"heart-rate-monitor\",\"characteristic\":\"2a37\","
    "\"value\":{\"bpm\":60,\"contact\":true,\"rr_s\":[0.992]},\"raw\":\"163cf803\"}}\n";
static const char warning_line[] =
    "{\"specversion\":\"1.0\",\"id\":\"j1-n1795251722000000-1043\",\"source\":\"/wakebridge\",\"type\":\"wakebridge.expiring\","
    "\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\",\"data\":{\"reason\":\"budget\","
    "\"remaining_ms\":300,\"tasks\":[],\"open\":[1042]}}\n";
