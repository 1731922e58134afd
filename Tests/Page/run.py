#!/usr/bin/env python3
"""Tries the page in a headless Chromium, against a stand-in for the daemon. Each check prints one line, `ok …` or `FAIL …`.

    run.py [WORD...]     only the checks whose sentence has one of the words
    run.py --pictures    also writes the pictures of the documentation, docs/pictures/page-*.png

With PAGE_ADDRESS and PAGE_TOKEN a daemon is tried in the stand-in's place, by the checks that change nothing. PAGE_LIVE says for how
many seconds it is watched (5). Scripts/prepare-page.sh makes the Python for it: .build/page/venv/bin/python.
"""
import concurrent.futures
import io
import os
import re
import subprocess
import sys
import time

from PIL import Image
from playwright.sync_api import TimeoutError as TooSlow

from browser import Failure, Visit, chromium, expect
from standin import ROOT, StandIn, TOKENS, made_up_thermometers

REAL = os.environ.get("PAGE_ADDRESS")
LIVE_S = float(os.environ.get("PAGE_LIVE", "5"))
LIMIT = 60 * 1024
BROWSERS = 3
PICTURES = ROOT / "docs/pictures"
MOST_PICTURE = 150 * 1024

CHECKS = []


def check(sentence, anywhere=False):
    """`anywhere`: it orders nothing and so may be made of a daemon in use."""
    def add(function):
        CHECKS.append((sentence, function, anywhere))
        return function
    return add


class Stage:
    """A browser, and a fresh daemon for each check."""

    def __init__(self, browser):
        self.browser, self.bridge, self.visits = browser, None, []

    def begin(self):
        if not REAL:
            self.bridge = StandIn("/bridge/").start()
            self.bridge.measure(0.25)

    def end(self, may_complain):
        try:
            for visit in self.visits:
                visit.close(may_complain)
        finally:
            self.visits = []
            if self.bridge:
                self.bridge.rest()
                self.bridge.stop()

    def visit(self, role="pair", **options):
        visit = Visit(self.browser, REAL or self.bridge.address, **options)
        self.visits.append(visit)
        visit.go(os.environ["PAGE_TOKEN"] if REAL else TOKENS[role])
        return visit

    def asked(self, since=0):
        return [path for moment, _, path in self.bridge.requests if moment >= since]

    def rest(self, page):
        """Until the page has nothing more to ask for, of what it asks for once it is shown."""
        page.wait_for_timeout(500)
        wait_until(page, lambda: not self.asked(since=time.time() - 1), "it asks on and on")


def opened(page, kind, name=None):
    """Opens the row of a device or a handler, and returns what it shows."""
    row = page.locator(f".{kind}", has_text=name).first if name else page.locator(f".{kind}").first
    row.locator("summary").click()
    row.locator(".details").wait_for()
    return row


def order(row, text):
    """Presses the button of an opened row, which may be in its menu."""
    button = row.locator("button", has_text=re.compile(f"^{text}"))
    in_menu = row.locator(".menu button", has_text=re.compile(f"^{text}"))

    def is_pressed():
        # The orders are drawn anew when the device's state changes, and an open menu closes with that.
        if in_menu.count() and not button.is_visible():
            row.get_by_role("button", name="More").click()
        try:
            button.click(timeout=1000)
        except TooSlow:
            return False
        return True
    wait_until(row.page, is_pressed, f"{text} cannot be pressed")


def wait_until(page, is_so, complaint, seconds=30.0):
    end = time.monotonic() + seconds
    while not is_so():
        expect(time.monotonic() < end, complaint)
        page.wait_for_timeout(50)


@check("the page loads, and all of it together is at most 60 KB over the wire", anywhere=True)
def loads(stage):
    visit = Visit(stage.browser, REAL or stage.bridge.address)
    stage.visits.append(visit)
    sizes = {}
    visit.page.on("requestfinished", lambda request: sizes.update({request.url: request.sizes()})
                  if "/v1/" not in request.url else None)
    begun = time.monotonic()
    visit.go(os.environ.get("PAGE_TOKEN") if REAL else TOKENS["pair"])
    visit.page.wait_for_selector(".device .value")
    seconds = time.monotonic() - begun
    visit.page.wait_for_timeout(200)
    total = sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes.values())
    expect(0 < total <= LIMIT, f"{total} bytes in {len(sizes)} files")
    return f"{len(sizes)} files, {total / 1024:.1f} KB with their headers, first values after {seconds * 1000:.0f} ms"


@check("a token in the address logs in and is gone from the address", anywhere=True)
def fragment(stage):
    page = stage.visit().page
    expect("token" not in page.url, page.url)
    expect("token=" not in page.evaluate("document.cookie"), "a script can read the cookie")


@check("a wrong token is refused in words, and the right one lets in after it")
def log_in(stage):
    visit = Visit(stage.browser, stage.bridge.address)
    stage.visits.append(visit)
    page = visit.go()
    page.wait_for_selector("#login")
    visit.examine()
    expect(page.locator("#content").is_hidden(), "something is shown without a token")
    page.keyboard.type("guess")
    page.keyboard.press("Enter")
    page.get_by_text("the token is not known").wait_for()
    page.fill("[name=token]", TOKENS["read"])
    page.keyboard.press("Enter")
    page.wait_for_selector(".device")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_selector("#login")


@check("values, sparkline and events go on by themselves", anywhere=True)
def live(stage):
    page = stage.visit().page
    seen = set()
    begun = time.monotonic()
    # A busy machine shows as many, and takes longer.
    page.locator("#show-values").click()
    times = page.locator("#events .data .times").first
    while (age := time.monotonic() - begun) < LIVE_S or len(seen) <= LIVE_S * 0.6 and age < 30:
        seen.add((page.locator(".device .value").first.inner_text(), times.inner_text()))
        page.wait_for_timeout(200)
    expect(len(seen) > LIVE_S * 0.6, f"{len(seen)} states in {age:.0f} s")
    path = page.locator(".device .spark path").first.get_attribute("d")
    expect(path and len(path) > 20, "the sparkline is empty")
    return f"{len(seen)} states in {age:.0f} s"


@check("the page goes on after the daemon was away and came back")
def restart(stage):
    page = stage.visit().page
    stage.bridge.stop()
    page.get_by_text("cannot be reached").wait_for()
    page.wait_for_timeout(1500)
    stage.bridge.start()
    begun = time.monotonic()
    page.locator("#connection:empty").wait_for(state="attached")
    shown = page.locator("#events").text_content()
    wait_until(page, lambda: page.locator("#events").text_content() != shown, "no event came after the restart")
    stage.visits[0].complaints.clear()  # a browser tells of each try that failed
    return f"{time.monotonic() - begun:.1f} s after it was back"


@check("a daemon of another version has its own page loaded")
def upgrade(stage):
    page = stage.visit().page
    page.evaluate("window.isOld = true")
    stage.bridge.version = "1.0.0"
    stage.bridge.restart()
    page.get_by_text("WakeBridge 1.0.0").wait_for()
    expect(not page.evaluate("window.isOld"), "the old page is still there")
    stage.visits[0].complaints.clear()


@check("a hidden page asks for nothing, and is in step again when it is seen")
def hidden(stage):
    visit = stage.visit()
    page = visit.page
    stage.rest(page)
    visit.hide(True)
    page.wait_for_timeout(300)
    begun = time.time()
    page.wait_for_timeout(6000)
    asked = stage.asked(since=begun)
    expect(not asked, f"it asked for {asked}")
    wait_until(page, lambda: not stage.bridge.streams, "its stream is still open")
    stage.bridge.devices[0].alias = "new-name"
    visit.hide(False)
    page.locator(".device .name", has_text="new-name").wait_for()
    expect(len(stage.bridge.streams) == 1, f"{len(stage.bridge.streams)} streams are open")


@check("a page that is only looked at asks for the status once in five seconds at most")
def calm(stage):
    page = stage.visit().page
    stage.rest(page)
    begun = time.time()
    page.wait_for_timeout(6000)
    asked = [path for path in stage.asked(since=begun) if path.startswith("v1/")]
    most = (time.time() - begun) // 5 + 1
    expect(asked.count("v1/status") <= most and len(asked) <= 2 * most, f"{asked}")
    return f"{len(asked)} requests in {time.time() - begun:.0f} s with 4 events a second"


@check("charts of 15 minutes to 7 days shade gaps by their cause, and say them in plain words, with the unit on the axis")
def gaps(stage):
    page = stage.visit().page
    row = opened(page, "device", "chest-strap")
    row.get_by_text("no data for 2 min: the strap went out of reach").wait_for()
    expect(row.locator(".chart .unit").text_content() == "bpm", "the axis has no unit")
    expect(row.locator("rect.gap").count() == 1, "the gap is not shaded")
    label = row.locator(".chart svg").get_attribute("aria-label")
    expect(re.match(r"bpm in the last 15 minutes: .* now, .*; 1 gap", label), label)
    strap = stage.bridge.devices[0]
    stage.bridge.emit(strap, "gap", {"device": "chest-strap", "cause": "overflow", "count": 3})
    row.get_by_text("no room was left: 3 events lost").wait_for()
    for text, words in (("1 h", "hour"), ("6 h", "6 hours"), ("24 h", "24 hours"), ("7 d", "7 days")):
        row.get_by_role("button", name=text, exact=True).click()
        row.locator(f".chart svg[aria-label^='bpm in the last {words}: ']").wait_for()
    row.get_by_text("session closed").wait_for()
    expect(row.locator("rect.gap").count() >= 2, "the gaps of the day are not shaded")
    shades = set(shade.get_attribute("class") for shade in row.locator("rect.gap").all())
    expect(len(shades) >= 2, "two causes look the same")


@check("a chart of 7 days is chosen by keyboard, fits a phone, and says what a restart of the daemon took")
def week(stage):
    stage.bridge.devices[0].begun = time.time() - 3 * 86_400
    visit = stage.visit(width=360, timezone_id="Europe/Berlin")
    row = opened(visit.page, "device", "chest-strap")
    row.get_by_role("button", name="7 d", exact=True).focus()
    visit.page.keyboard.press("Enter")
    row.locator("[aria-pressed=true]", has_text="7 d").wait_for()
    row.get_by_text(re.compile("not recorded for 4 days: the daemon keeps no history from before .*, and none over a restart")).wait_for()
    row.locator(".chart path.band[d^=M]").wait_for()
    row.locator(".chart").focus()
    visit.page.keyboard.press("ArrowLeft")
    reading = row.locator(".readout").inner_text()
    expect(re.search(r"(^| )\d\d:[03]0 +\d+ bpm \(\d+ to \d+\)$", reading), f"no half hour with its least and most: {reading}")
    begun = time.time()
    visit.page.wait_for_timeout(1500)
    expect("v1/devices/history" not in stage.asked(since=begun), "the week is asked for again with each value")
    visit.examine()


@check("of a week in which the clocks are set back, each mark is a midnight")
def midnights(stage):
    visit = Visit(stage.browser, stage.bridge.address, timezone_id="Europe/Berlin")
    stage.visits.append(visit)
    # Three days after the last Sunday of October.
    visit.page.clock.set_fixed_time("2026-10-28T12:00:00+01:00")
    row = opened(visit.go(TOKENS["pair"]), "device", "chest-strap")
    row.get_by_role("button", name="7 d", exact=True).click()
    days = row.locator(".chart text", has_text=re.compile("^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)$"))
    days.first.wait_for()
    expect(days.all_text_contents() == ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"], days.all_text_contents())


@check("a link that ends is shaded at once, until the device is back")
def absence(stage):
    page = stage.visit().page
    row = opened(page, "device", "kitchen")
    row.locator(".chart path.line[d^=M]").wait_for()
    expect(row.locator("rect.gap").count() == 0, "a gap is shaded before there is one")
    stage.bridge.rest()
    kitchen = stage.bridge.devices[1]
    stage.bridge.emit(kitchen, "disconnected", {"reason": "timeout", "folded": 0})
    row.get_by_text("the link ended: timeout").wait_for()
    row.locator("rect.gap").wait_for(state="attached")
    page.wait_for_timeout(2100)
    stage.bridge.emit(kitchen, "connected", {"profile": kitchen.profile})
    row.get_by_text(re.compile(r"not connected for [1-9]\d*(\.\d)? s: the link ended")).wait_for()
    before = row.locator(".legend").inner_text()
    page.wait_for_timeout(2100)
    stage.bridge.send_value(kitchen, {"temperature_c": 21.0})
    page.wait_for_timeout(500)
    expect(row.locator(".legend").inner_text() == before, "the gap grows though the device is back")


@check("the arrow keys and a pointer move along a chart")
def readout(stage):
    page = stage.visit().page
    row = opened(page, "device", "chest-strap")
    row.locator(".chart").focus()
    page.keyboard.press("ArrowLeft")
    reading = row.locator(".readout")
    expect(re.match(r"\d\d:\d\d:\d\d .* bpm", reading.inner_text()), reading.inner_text())
    before = reading.inner_text()
    box = row.locator(".chart svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 60)
    expect(reading.inner_text() != before, "the pointer shows nothing")
    page.mouse.move(0, 0)
    reading.wait_for(state="hidden")


@check("a device is paused, freed for the phone, taken back, renamed and forgotten")
def device_orders(stage):
    page = stage.visit().page
    row = opened(page, "device", "chest-strap")
    for text, session in (("Pause", "paused"), ("Go on", "open"), ("Free for phone", "closed"), ("Take back", "open")):
        order(row, text)
        wait_until(page, lambda: stage.bridge.devices[0].session == session, f"{text}: the session is not {session}")
        page.locator("#notice", has_text="chest-strap is").wait_for()
    order(row, "Rename")
    page.fill("dialog input", "strap")
    page.keyboard.press("Enter")
    page.locator(".device .name", has_text=re.compile("^strap$")).wait_for()
    order(page.locator(".device").first, "Forget")
    page.locator("dialog").get_by_role("button", name="Forget").click()
    wait_until(page, lambda: len(stage.bridge.devices) == 3, "it is not forgotten")
    page.locator(".device .name", has_text=re.compile("^strap$")).wait_for(state="detached")


@check("a handler tells its failure with the last error first, then why, its timeline and budget, and is started, stopped and woken")
def handlers(stage):
    page = stage.visit().page
    row = opened(page, "handler", "upload")
    page.locator(".handler .why", has_text="it said last: cannot open").wait_for()
    failure = row.locator(".failure", has_text="Its budget ended without an acknowledgement, and it was killed")
    failure.get_by_text("Its last error: TimeoutError").wait_for()
    above = failure.bounding_box()["y"] < row.locator(".band-chart").bounding_box()["y"]
    expect(above, "the failure is below the timeline")
    row.get_by_text("of a budget of 10 s").wait_for()
    states = {mark.get_attribute("class") for mark in row.locator(".band-chart rect").all()}
    expect(states >= {"awake", "frozen", "held", "end", "fault"}, f"{states}")
    expect(row.get_by_role("button", name="7 d", exact=True).count() == 0, "a range is offered that no timeline has")
    for text, path in (("Start", "handlers/upload/start"), ("Stop", "handlers/upload/stop"), ("Wake", "simulate")):
        order(row, text)
        if text == "Stop":
            page.locator("dialog", has_text="It gets no events until you start it.").get_by_role("button", name="Stop").click()
        wait_until(page, lambda: any(order == path for order, _ in stage.bridge.orders), f"{text} was not ordered")


@check("a handler that sleeps has one word for it, and a reason without that word")
def one_word(stage):
    page = stage.visit().page
    row = opened(page, "handler", "hr")
    row.locator(".reason", has_text=re.compile("^No event waits$")).wait_for()
    expect("sleep" not in row.inner_text(), row.inner_text())


@check("the log is in a drawer, with errors marked, and nothing else of the page scrolls by itself")
def log(stage):
    visit = stage.visit()
    page = visit.page
    row = opened(page, "handler", "hr")
    page.locator("#show-values").click()
    inner = page.evaluate("""() => [...document.querySelectorAll('main *')].filter(one => one.scrollHeight > one.clientHeight + 1
        && ['auto', 'scroll'].includes(getComputedStyle(one).overflowY)).map(one => one.className)""")
    expect(not inner, f"these scroll: {inner}")
    order(row, "Log")
    drawer = page.get_by_role("dialog", name="Log of hr")
    drawer.locator(".stderr", has_text="TimeoutError").wait_for()
    expect(drawer.locator("li").count() == 40, f"{drawer.locator('li').count()} lines")
    visit.examine()
    drawer.get_by_role("button", name="Close").click()
    drawer.wait_for(state="detached")


@check("of the events only what is no value is listed, until values are asked for; those in a row share a line")
def repeats(stage):
    page = stage.visit().page
    page.get_by_text("Nothing but values came").wait_for()
    expect(page.locator("#events > li:visible").count() == 0, "values are listed unasked")
    kitchen = stage.bridge.devices[1]
    stage.bridge.emit(kitchen, "disconnected", {"reason": "timeout", "folded": 0})
    page.locator("#events", has_text="disconnected: timeout").wait_for()
    page.locator("#show-values").click()
    row = page.locator("#events > .data", has_text="chest-strap")
    wait_until(page, lambda: row.locator(".times").inner_text() > "", "nothing is folded")
    expect(row.count() == 1, f"{row.count()} lines of one device")
    row.locator("summary").click()
    expect(re.match(r"\d\d:\d\d:\d\d (\d+ bpm|battery)", row.locator(".run li").first.inner_text()), "no earlier value is listed")


@check("events can be paused and filtered by device, and opened to their raw JSON")
def events(stage):
    page = stage.visit().page
    page.locator("#show-values").click()
    page.locator("#events > li").nth(1).wait_for()
    page.locator("#pause-events").click()
    page.wait_for_timeout(150)
    shown = page.locator("#events").text_content()
    page.get_by_text("new)").wait_for()
    expect(page.locator("#events").text_content() == shown, "events were added while paused")
    page.locator("#events summary").first.click()
    expect('"specversion": "1.0"' in page.locator("#events pre").first.inner_text(), "the raw line is not shown")
    page.select_option("#event-device", "kitchen")
    page.locator("#pause-events").click()
    page.locator("#events > li:visible", has_text="kitchen").first.wait_for()
    names = {row.get_attribute("data-device") for row in page.locator("#events > li:visible").all()}
    expect(names == {"kitchen"}, f"{names}")


@check("twenty events are shown at once, and the others on request")
def many_events(stage):
    page = stage.visit().page
    kitchen = stage.bridge.devices[1]
    for kind in ["connected"] * 30:
        stage.bridge.emit(kitchen, kind, {"profile": kitchen.profile})
    page.get_by_role("button", name="Show all 30").click()
    expect(page.locator("#events > li:visible").count() == 30, "they are not all shown")
    page.get_by_role("button", name="Show the latest 20").click()
    expect(page.locator("#events > li:visible").count() == 20, "they are still shown")


@check("a thousand events a second leave the page at work, with 200 lines")
def flood(stage):
    page = stage.visit().page
    stage.bridge.rest()
    strap = stage.bridge.devices[0]
    for number in range(3000):
        stage.bridge.send_value(strap, {"bpm": number % 90 + 50})
    stage.bridge.send_value(strap, {"bpm": 199})
    page.locator(".device .value", has_text="199").wait_for()
    for number in range(300):
        stage.bridge.emit(strap, "connected", {"profile": strap.profile})
    stage.bridge.emit(strap, "disconnected", {"reason": "timeout", "folded": 0})
    page.locator("#events", has_text="disconnected: timeout").wait_for()
    expect(page.locator("#events > li").count() <= 200, f"{page.locator('#events > li').count()} lines")


@check("what the doctor finds faulty is shown unasked with its fix to copy, and its hints on request")
def findings(stage):
    visit = stage.visit(permissions=["clipboard-read", "clipboard-write"])
    page = visit.page
    page.get_by_role("button", name="Copy the fix: sudo btmgmt").wait_for()
    expect(page.get_by_role("button", name="Copy the fix: read docs").count() == 0, "a hint is shown unasked")
    page.get_by_role("button", name="1 to fix").click()
    page.get_by_role("button", name="Copy the fix: read docs").wait_for()
    page.get_by_role("button", name="Copy the fix: sudo btmgmt").click()
    page.get_by_text("The fix is copied.").wait_for()
    expect(page.evaluate("navigator.clipboard.readText()") == "sudo btmgmt -i hci1 power on", "another text is copied")
    visit.examine()


@check("of many errors two are shown unasked, so that the devices stay in sight, and the others on request")
def many_findings(stage):
    stage.bridge.findings = [{"code": "x", "level": "error", "what": f"error {number}", "why": None, "fix": None} for number in range(5)]
    page = stage.visit().page
    page.locator(".finding:visible").nth(1).wait_for()
    expect(page.locator(".finding:visible").count() == 2, f"{page.locator('.finding:visible').count()} are shown")
    page.get_by_role("button", name="5 to fix").click()
    page.locator(".finding:visible").nth(4).wait_for()


@check("a bridge without findings is all well")
def all_well(stage):
    stage.bridge.findings = []
    page = stage.visit().page
    page.get_by_role("button", name="all well").click()
    page.get_by_text("The doctor finds nothing to fix.").wait_for()


@check("after a look that failed the doctor is asked again, and nothing is called well meanwhile")
def failed_look(stage):
    found, stage.bridge.findings = stage.bridge.findings, None
    visit = stage.visit()
    visit.page.get_by_role("button", name="not examined").wait_for()
    stage.bridge.findings = found
    visit.hide(True)
    visit.hide(False)
    visit.page.get_by_role("button", name="1 to fix").wait_for()
    visit.complaints.clear()  # the look that failed


@check("a page that stays open asks the doctor again every ten minutes")
def looks_again(stage):
    stage.bridge.findings = []
    visit = Visit(stage.browser, stage.bridge.address)
    stage.visits.append(visit)
    visit.page.clock.install()
    page = visit.go(TOKENS["pair"])
    page.get_by_role("button", name="all well").wait_for()
    stage.bridge.findings = [{"code": "x", "level": "error", "what": "The disk is full.", "why": None, "fix": None}]
    page.clock.fast_forward(601_000)
    page.get_by_role("button", name="1 to fix").wait_for()


@check("the adapters are a chip in the header, which opens to who has a link, who waits and who scans")
def adapter(stage):
    page = stage.visit().page
    expect(page.locator(".adapter:visible").count() == 0, "the adapters are shown unasked")
    page.get_by_role("button", name="Bluetooth 4 links, 1 waiting").click()
    row = page.locator(".adapter", has_text="00:1A:7D:DA:71:13")
    for text in ("3 of 5 links", "chest-strap", "scale", "homeassistant scans on adapter"):
        row.get_by_text(text).first.wait_for()
    expect(row.get_by_text("kitchen").count() == 0, "it shows a device of the other adapter")
    page.locator(".adapter", has_text="00:1A:7D:DA:71:14").get_by_text("kitchen").wait_for()
    devices = page.locator("#devices-title").bounding_box()
    page.get_by_role("button", name="Bluetooth").click()
    expect(page.locator("#devices-title").bounding_box()["y"] < devices["y"], "the adapters do not close")


@check("the header has the machine's name, which the tab has too")
def host(stage):
    page = stage.visit().page
    page.get_by_role("heading", name="pi-living-room").wait_for()
    expect(page.title() == "pi-living-room · WakeBridge", page.title())


@check("a device without a value says so, and why")
def no_value(stage):
    page = stage.visit().page
    row = page.locator(".device", has_text="doorbell-scanner")
    expect("no value yet" in row.inner_text() and "connected, and has sent nothing yet" in row.inner_text(), row.inner_text())
    stage.bridge.devices[3].session = "closed"
    page.reload()
    page.locator(".device", has_text="free for the phone, until you take it back").wait_for()
    page.locator(".device", has_text="scale").get_by_text("71").or_(page.locator(".device", has_text="scale").get_by_text("70")).or_(
        page.locator(".device", has_text="scale").get_by_text("72")).first.wait_for()


@check("an opened device shows its value once, with as many digits as it sends")
def once(stage):
    page = stage.visit().page
    stage.bridge.rest()
    row = opened(page, "device", "chest-strap")
    expect(row.locator(".values div").count() == 0, "the value is shown again")
    for number in (60, 61):
        stage.bridge.send_value(stage.bridge.devices[0], {"bpm": number})
    page.locator(".device .value", has_text="61").first.wait_for()
    row.locator(".chart").focus()
    page.keyboard.press("ArrowLeft")
    # A place of the chart may also have a value from before: its mean is shown in whole numbers, too.
    readout = row.locator(".readout").inner_text()
    expect(re.search(r" \d+ bpm", readout) and "." not in readout, readout)


@check("a calm value has a calm line")
def calm_line(stage):
    page = stage.visit().page
    stage.bridge.rest()
    kitchen = stage.bridge.devices[1]
    kitchen.value = lambda moment: 21.0 + 0.1 * (int(moment) % 2)
    page.reload()
    path = page.locator(".device", has_text="kitchen").locator(".spark path")
    path.wait_for(state="attached")
    heights = [float(place) for place in re.findall(r",(-?[\d.]+)", path.get_attribute("d"))]
    expect(max(heights) - min(heights) < 8, f"{min(heights)} to {max(heights)} of 24")


@check("many thermometers are cards, and fill a wall that is left with Escape")
def cards(stage):
    stage.bridge.devices = made_up_thermometers()
    visit = stage.visit()
    page = visit.page
    page.get_by_role("button", name="Cards").click()
    tops = {round(card.bounding_box()["y"]) for card in page.locator(".device").all()}
    expect(1 < len(tops) < 12, f"{len(tops)} rows of cards")
    page.wait_for_timeout(300)
    visit.examine()
    page.get_by_role("button", name="Wall display").click()
    expect("#wall" in page.url and page.locator("#handlers-section").is_hidden(), "more than the devices is shown")
    visit.examine()
    page.reload()
    page.locator(".wall .device .value", has_text="21").first.wait_for()
    page.keyboard.press("Escape")
    page.locator("#handlers-section").wait_for()
    expect("#wall" not in page.url, page.url)


@check("what could not be delivered is one line, of which one event is tried again, another discarded, and all after a question")
def dead_letters(stage):
    page = stage.visit().page
    line = page.locator(".undelivered")
    expect(line.locator("summary").inner_text() == "3 readings from chest-strap could not be delivered to upload "
           "(given back 5 times: the server answered 503)", line.inner_text())
    line.locator("summary").click()
    page.get_by_role("button", name="Retry event 41").click()
    page.get_by_text("1 event is queued again.").wait_for()
    line.locator("summary", has_text="2 readings").click()
    for name, question in (("Discard event 42", "Discard this event of chest-strap?"), ("Discard all", "Discard 1 reading")):
        page.get_by_role("button", name=name).click()
        page.locator("dialog", has_text=question).get_by_role("button", name="Discard").click()
        page.get_by_text("1 event is discarded.").wait_for()
    page.locator("#undelivered").wait_for(state="hidden")
    expect(not stage.bridge.letters, "some are left")


@check("a device with a passkey is paired in four screens, and its value appears")
def pair_passkey(stage):
    visit = stage.visit(width=360, height=760)
    page = visit.page
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Search").click()
    first = page.locator(".neighbours .name").first
    first.wait_for()
    page.get_by_text("Still searching").wait_for()
    expect(first.inner_text() == "Polar H10 8C2F", f"the nearest is not first: {first.inner_text()}")
    visit.examine()
    page.get_by_role("button", name="Glucose Meter").click()
    ok = page.get_by_role("button", name="OK")
    ok.wait_for()
    expect(ok.is_disabled() and "Connecting" not in page.locator("dialog").inner_text(), page.locator("dialog").inner_text())
    visit.examine()
    page.keyboard.type("123456")
    visit.examine()
    ok.click()
    page.get_by_text("Step 4 of 4").wait_for()
    page.locator(".first-value", has_text=re.compile(r"glucose 5\.\d mmol/L")).wait_for()
    page.fill("dialog input", "meter")
    page.get_by_role("button", name="Done").click()
    page.locator(".device .name", has_text=re.compile("^meter$")).wait_for()


@check("two numbers are compared in big digits, and a refusal is told with what to do")
def pair_compare(stage):
    visit = stage.visit()
    page = visit.page
    for answer, outcome in (("It is another", "the device refused the passkey; look at its label"), ("It is the same", "Paired")):
        page.get_by_role("button", name="Add").click()
        page.get_by_role("button", name="Search").click()
        page.get_by_role("button", name="Polar").click()
        page.get_by_text("048 213").wait_for()
        visit.examine()
        page.get_by_role("button", name=answer).click()
        page.locator("dialog", has_text=outcome).wait_for()
        page.keyboard.press("Escape")


@check("a pairing goes on where the page hears that it was too slow for events")
def pair_beside_gap(stage):
    page = stage.visit().page
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="Polar").click()
    page.get_by_role("button", name="It is the same").click()
    page.get_by_text("Step 4 of 4").wait_for()
    for stream in list(stage.bridge.streams):
        stream.put({"gap": {"cause": "overflow", "lines": 3, "message": "this reader left too much unread"}})
    page.locator("#events").get_by_text("this reader left too much unread").wait_for()


@check("closing the dialog ends the search")
def cancel(stage):
    page = stage.visit().page
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Search").click()
    page.locator(".neighbours li").first.wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.locator("dialog").wait_for(state="detached")


@check("a recording is saved as a whole trace, and played to a handler")
def record(stage):
    page = stage.visit().page
    row = opened(page, "device", "chest-strap")
    order(row, "Record")
    wait_until(page, lambda: stage.bridge.recorded >= 8, "nothing is recorded")
    with page.expect_download() as download:
        row.get_by_role("button", name="Stop recording").click()
    path = download.value.path()
    text = path.read_text()
    expect(download.value.suggested_filename.endswith(".trace"), download.value.suggested_filename)
    expect(text.startswith("wakebridge-trace 1\n") and text.endswith("\nend\n") and text.count(" data ") > 3, text[-200:])
    row = opened(page, "handler", "hr")
    order(row, "Replay a recording")
    page.set_input_files("dialog input", path)
    page.locator("dialog").get_by_role("button", name="Replay", exact=True).click()
    page.get_by_text("The recording is over.").wait_for()
    expect(page.locator("dialog .log li").count() > 3, "the program said nothing")


@check("a token that may only read sees no control that orders, and is told so")
def reads(stage):
    visit = stage.visit("read")
    page = visit.page
    opened(page, "device", "chest-strap")
    opened(page, "handler", "hr")
    page.get_by_text("You may look.").wait_for()
    for name in ("Add", "Free for phone", "More for chest-strap", "More for hr", "Retry all events for upload", "Discard all events for upload"):
        expect(page.get_by_role("button", name=name, exact=True).count() == 0, f"{name} is shown")
    visit.examine()


@check("a token that may operate pauses and wakes, and sees nothing to pair with")
def operates(stage):
    page = stage.visit("operate").page
    row = opened(page, "device", "chest-strap")
    row.get_by_role("button", name="Free for phone").wait_for()
    row.get_by_role("button", name="More").click()
    row.get_by_role("button", name="Pause").wait_for()
    for name in ("Add", "Rename", "Forget"):
        expect(page.get_by_role("button", name=name, exact=True).count() == 0, f"{name} is shown")


@check("everything is reached by keyboard alone, with a mark on what has the focus")
def keyboard(stage):
    page = stage.visit().page
    reached = []
    while not reached or not reached[-1].startswith("Pause The link stays"):
        page.keyboard.press("Tab")
        name, width = page.evaluate("""() => [document.activeElement.innerText || document.activeElement.getAttribute('aria-label') || '',
            getComputedStyle(document.activeElement).outlineWidth]""")
        expect(name == "" or width != "0px", f"no mark on {name}")
        reached.append(" ".join(name.split()))
        expect(len(reached) < 40, f"{reached}")
        if reached[-1].startswith("connected chest-strap"):
            page.keyboard.press("Enter")
            page.locator(".device .details").wait_for()
        if reached[-1] == "More":
            page.keyboard.press("Enter")
    page.keyboard.press("Space")
    wait_until(page, lambda: stage.bridge.devices[0].session == "paused", "Space paused nothing")
    page.get_by_role("button", name="Add").focus()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    expect(page.evaluate("document.activeElement.id") == "add", "the focus does not come back to where it was")


@check("what is read aloud by itself is only what orders come to")
def quiet(stage):
    page = stage.visit().page
    opened(page, "device", "chest-strap")
    page.evaluate("""() => {
        window.told = [];
        const regions = document.querySelectorAll('[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log], output');
        for (const one of regions) {
            new MutationObserver(() => window.told.push(one.id || one.className))
                .observe(one, {childList: true, characterData: true, subtree: true});
        }
    }""")
    page.wait_for_timeout(3000)
    told = page.evaluate("window.told")
    expect(not told, f"{len(told)} times, in {set(told)}")


def examined(width, scheme):
    def function(stage):
        visit = stage.visit(width=width, scheme=scheme)
        for kind in ("handler", "device"):
            if visit.page.locator(f".{kind}").count():
                opened(visit.page, kind)
        for button in ("#bluetooth", "#show-values", ".device .details button:text-is('More')"):
            if visit.page.locator(button).first.is_visible():
                visit.page.locator(button).first.click()
        visit.page.wait_for_timeout(600)
        visit.examine()
    return function


for its_width, its_scheme in ((1200, "light"), (1200, "dark"), (360, "light"), (360, "dark")):
    check(f"axe finds nothing, no target is small and nothing scrolls sideways: {its_width} px, {its_scheme}",
          anywhere=True)(examined(its_width, its_scheme))


@check("the colours are chosen by hand as well, and the choice is kept", anywhere=True)
def theme(stage):
    page = stage.visit(scheme="light").page
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    page.locator("#theme").click()
    dark = page.evaluate(ground)
    expect(page.get_by_role("button", name="Dark theme").is_visible() and dark != light, f"{light}, {dark}")
    page.reload()
    page.wait_for_selector(".device")
    expect(page.evaluate(ground) == dark, "the choice is lost")


@check("a row opens at a press on a sparkline that is drawn again under the finger")
def press(stage):
    page = stage.visit().page
    line = page.locator(".device .spark path").first
    before = line.get_attribute("d")
    box = page.locator(".device .spark-place").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    wait_until(page, lambda: line.get_attribute("d") != before, "the sparkline stays as it is")
    page.mouse.up()
    page.locator(".device .details").wait_for()


@check("times tick by themselves")
def ticks(stage):
    page = stage.visit().page
    stage.bridge.rest()
    page.wait_for_timeout(300)
    age = page.locator(".device .age").first
    before = age.inner_text()
    page.wait_for_timeout(2300)
    expect(re.fullmatch(r"\d s ago", age.inner_text()) and age.inner_text() != before, f"{before}, {age.inner_text()}")


def take_pictures(stage):
    """Of the open page in light, dark and on a phone, of cards and of a pairing; each is kept small by a palette of its own."""
    expect("Inter" in subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True).stdout,
           "the pictures need the font Inter, so that no browser falls back on another: apt-get install fonts-inter")
    for name, width, height, scheme in (("light", 1200, 1000, "light"), ("dark", 1200, 1000, "dark"), ("phone", 360, 800, "dark")):
        visit = stage.visit(width=width, height=height, scheme=scheme)
        tell_of_a_day(stage.bridge)
        visit.page.wait_for_timeout(4000)
        row = opened(visit.page, "device", "chest-strap")
        if width > 1000:
            opened(visit.page, "handler", "hr")
        box = row.locator(".chart svg").bounding_box()
        visit.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 80)
        visit.page.wait_for_timeout(500)
        save_picture(visit.page, name)
    save(side_by_side(pairing_steps(stage)), "add")
    stage.bridge.devices = made_up_thermometers()
    visit = stage.visit(width=1200, height=560, scheme="dark")
    visit.page.get_by_role("button", name="Wall display").click()
    visit.page.locator("#leave-wall").wait_for(state="hidden")
    save_picture(visit.page, "wall")


def tell_of_a_day(bridge):
    """What the list of events shows without being asked."""
    strap, kitchen = bridge.devices[:2]
    bridge.emit(kitchen, "disconnected", {"reason": "timeout", "folded": 0})
    bridge.emit(kitchen, "connected", {"profile": kitchen.profile})
    bridge.emit(strap, "attention", {"kind": "flapping", "detail": "it came and went 12 times in a minute"})


def pairing_steps(stage):
    """A picture of each of the four screens, on a phone."""
    page = stage.visit(width=330, height=500).page
    page.get_by_role("button", name="Add").click()
    yield page.screenshot()
    page.get_by_role("button", name="Search").click()
    page.get_by_text("Still searching").wait_for()
    yield page.screenshot()
    page.get_by_role("button", name="Glucose Meter").click()
    page.locator(".passkey").wait_for()
    page.keyboard.type("123456")
    yield page.screenshot()
    page.get_by_role("button", name="OK").click()
    page.locator(".first-value", has_text="mmol/L").wait_for()
    yield page.screenshot()


def side_by_side(screens, space=12):
    pictures = [Image.open(io.BytesIO(screen)) for screen in screens]
    width, height = pictures[0].size
    whole = Image.new("RGB", ((width + space) * len(pictures) - space, height), "white")
    for place, picture in enumerate(pictures):
        whole.paste(picture, (place * (width + space), 0))
    return whole


def save_picture(page, name):
    save(Image.open(io.BytesIO(page.screenshot())), name)


def save(picture, name):
    path = PICTURES / f"page-{name}.png"
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    expect(size < MOST_PICTURE, f"{path.name} has {size} bytes")
    print(f"wrote {path.relative_to(ROOT)}, {size / 1024:.0f} KB")


def try_out(stage, sentence, function):
    begun = time.monotonic()
    stage.begin()
    problem, detail = None, None
    try:
        detail = function(stage)
    except Exception as error:  # pylint: disable=broad-except
        problem = str(error).split("\n=====")[0].replace("\n", " ") if isinstance(error, Failure) else f"{error!r:.600}"
    try:
        stage.end(may_complain=problem is not None or function is log_in)
    except Failure as error:
        problem = str(error)
    seconds = f"{time.monotonic() - begun:.1f} s"
    print(f"FAIL {sentence}: {problem}" if problem else f"ok   {sentence} ({', '.join(filter(None, (detail, seconds)))})", flush=True)
    return problem is None


def try_all(sentences):
    """In one browser, one after another; whether all of them hold."""
    with chromium() as browser:
        stage = Stage(browser)
        return all([try_out(stage, sentence, function) for sentence, function, _ in CHECKS if sentence in sentences])


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [sentence for sentence, _, anywhere in CHECKS
              if (anywhere or not REAL) and (not words or any(word in sentence for word in words))]
    if "--pictures" in sys.argv:
        check("pictures are taken")(take_pictures)
        chosen.append("pictures are taken")
    # Most of the time of a check is waiting, so some browsers wait side by side.
    with concurrent.futures.ProcessPoolExecutor(BROWSERS) as pool:
        passed = list(pool.map(try_all, [set(chosen[place::BROWSERS]) for place in range(BROWSERS)]))
    sys.exit(0 if chosen and all(passed) else 1)


if __name__ == "__main__":
    main()
