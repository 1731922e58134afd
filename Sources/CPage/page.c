// Embeds the files of the folder `Web`: the assembler finds them on the search path for headers, as Package.swift sets it.
#include "CPage.h"

#define PAGE_FILES(EACH) \
    EACH(index, "index.html") EACH(style, "page.css") EACH(icon, "icon.svg") EACH(adapters, "adapters.js") \
    EACH(api, "api.js") EACH(chart, "chart.js") EACH(connection, "connection.js") EACH(deadletters, "deadletters.js") \
    EACH(details, "details.js") EACH(devices, "devices.js") EACH(dom, "dom.js") EACH(events, "events.js") \
    EACH(findings, "findings.js") EACH(format, "format.js") EACH(handlers, "handlers.js") EACH(history, "history.js") \
    EACH(icons, "icons.js") EACH(log, "log.js") EACH(login, "login.js") EACH(main, "main.js") EACH(menu, "menu.js") \
    EACH(pairing, "pairing.js") EACH(recording, "recording.js") EACH(state, "state.js") EACH(theme, "theme.js") \
    EACH(timeline, "timeline.js") EACH(view, "view.js")

// What a build looks for with __has_include is among what it depends on, so a file that changed is embedded again.
#if !__has_include("index.html") || !__has_include("page.css") || !__has_include("icon.svg") \
    || !__has_include("adapters.js") || !__has_include("api.js") || !__has_include("chart.js") \
    || !__has_include("connection.js") || !__has_include("deadletters.js") || !__has_include("details.js") \
    || !__has_include("devices.js") || !__has_include("dom.js") || !__has_include("events.js") \
    || !__has_include("findings.js") || !__has_include("format.js") || !__has_include("handlers.js") \
    || !__has_include("history.js") || !__has_include("icons.js") || !__has_include("log.js") \
    || !__has_include("login.js") || !__has_include("main.js") || !__has_include("menu.js") \
    || !__has_include("pairing.js") || !__has_include("recording.js") || !__has_include("state.js") \
    || !__has_include("theme.js") || !__has_include("timeline.js") || !__has_include("view.js")
#error "a file of the page is missing"
#endif

#define EMBED(symbol, file) \
    __asm__(".section .rodata\n" \
            ".hidden wake_page_" #symbol "\n.global wake_page_" #symbol "\n" \
            ".hidden wake_page_" #symbol "_end\n.global wake_page_" #symbol "_end\n" \
            "wake_page_" #symbol ": .incbin \"" file "\"\n" \
            "wake_page_" #symbol "_end: .byte 0\n" \
            ".previous\n"); \
    extern const unsigned char wake_page_##symbol[] __attribute__((visibility("hidden"))); \
    extern const unsigned char wake_page_##symbol##_end[] __attribute__((visibility("hidden")));
PAGE_FILES(EMBED)
#undef EMBED

#define ENTRY(symbol, file) {file, wake_page_##symbol, wake_page_##symbol##_end},
static const struct wake_page_file files[] = {PAGE_FILES(ENTRY)};
#undef ENTRY

const struct wake_page_file *wake_page_file(size_t number) {
    return number < sizeof files / sizeof files[0] ? &files[number] : NULL;
}
