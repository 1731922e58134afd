"""Keeps the page of a real daemon open in a headless Chromium, and does with it what its standard input says.

    watch.py ADDRESS TOKEN

Prints `loaded …` once values are there. Then each line of its input is answered by one line:

    live COUNT       waits for so many more beats of the strap, and says whether each followed the one before
    gap              waits until the chart shades a gap, and says which
    again            waits until a value comes that is newer than now
    hide, close      hides the tab, or closes it
"""
import re
import sys
import time

from browser import Visit, chromium

PATIENCE_MS = 60_000
REOPEN = """() => {
    const all = [...document.querySelectorAll('#events .data details')];
    const turn = isOpen => new Promise(done => {
        for (const one of all) one.open = isOpen;
        setTimeout(done, 50);
    });
    return turn(false).then(() => turn(true));
}"""
BEAT = re.compile(r"(\d+) bpm")


class Watch:
    def __init__(self, browser, address, token):
        self.visit = Visit(browser, address)
        self.visit.context.set_default_timeout(PATIENCE_MS)
        self.page, self.sizes = self.visit.page, {}
        self.page.on("requestfinished", self.weigh)
        begun = time.monotonic()
        self.visit.go(token)
        self.page.locator("#show-values").click()
        self.loaded_s = time.monotonic() - begun

    def weigh(self, request):
        if "/v1/" not in request.url:
            size = request.sizes()
            self.sizes[request.url] = size["responseBodySize"] + size["responseHeadersSize"]

    def state(self):
        return self.page.locator("#events .data summary").first.inner_text()

    def beats(self):
        """Of the list of events, the newest first; a line that is opened lists those that it had before."""
        self.page.evaluate(REOPEN)
        shown = self.page.locator("#events .data summary, #events .data .run li").all_inner_texts()
        return [int(found[1]) for text in shown if (found := BEAT.search(text))]

    def live(self, count):
        begun, count = time.monotonic(), int(count)
        before = len(self.beats())
        while len(self.beats()) < before + count and time.monotonic() < begun + count + PATIENCE_MS / 1000:
            self.page.wait_for_timeout(500)
        beats = self.beats()[:count]
        # The trace counts from 48 to 87, and begins again.
        follow = all((newer - older) % 40 == 1 for newer, older in zip(beats, beats[1:]))
        shown = self.page.locator(".device .value").first.inner_text()
        return f"live {len(beats)} beats, {'each' if follow else 'NOT each'} after the one before; it shows {shown}"

    def gap(self):
        if not self.page.locator(".device .details").first.is_visible():
            self.page.locator(".device summary").first.click()
        chart = self.page.locator(".device .chart").first
        cause = chart.locator(".legend li", has_text="not connected").first
        cause.wait_for()
        # What the daemon has no record of is shaded as well.
        shades, causes = chart.locator("rect.gap").count(), chart.locator(".legend li").count()
        return f"gap {cause.inner_text()}; {'each' if shades >= causes else 'NOT each'} cause is shaded"

    def again(self):
        before = self.state()
        end = time.monotonic() + PATIENCE_MS / 1000
        while self.state() == before and time.monotonic() < end:
            self.page.wait_for_timeout(100)
        return f"again {self.state()}" if self.state() != before else "never"

    def hide(self):
        self.visit.hide(True)
        return "hide"

    def close(self):
        self.page.close()
        return "close"


def main(address, token):
    with chromium() as browser:
        watch = Watch(browser, address, token)
        print(f"loaded {sum(watch.sizes.values())} bytes in {len(watch.sizes)} files, {watch.loaded_s * 1000:.0f} ms", flush=True)
        for line in sys.stdin:
            verb, *words = line.split()
            print(getattr(watch, verb)(*words), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
