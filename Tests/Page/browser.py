"""A headless Chromium, and what is asked of any page in it: no complaint, nothing from elsewhere, room for thumbs, no fault of axe."""
import contextlib
import importlib.util
import pathlib
import shutil
import urllib.parse

from playwright.sync_api import sync_playwright

AXE = pathlib.Path(importlib.util.find_spec("axe_core_python").origin).parent / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# What stays away for so long does not come, also beside machines that are emulated.
PATIENCE_MS = 30_000

# Everything that can be pressed and is seen, smaller than a thumb. The legend of a browser's own field is none of ours.
SMALL = """() => [...document.querySelectorAll('button, summary, select, a, input:not([type=hidden])')].filter(one => {
    const box = one.getBoundingClientRect();
    return one.checkVisibility({visibilityProperty: true}) && box.width && (box.height < 43.5 || box.width < 43.5);
}).map(one => one.outerHTML.slice(0, 90))"""

HIDE = """isHidden => {
    Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true});
    Object.defineProperty(document, 'visibilityState', {value: isHidden ? 'hidden' : 'visible', configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""


class Failure(Exception):
    """What a check found wrong."""


def expect(is_so, complaint):
    if not is_so:
        raise Failure(complaint)


@contextlib.contextmanager
def chromium():
    program = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        # Tests run as root in containers, where Chromium has no sandbox to itself; its page is ours.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Visit:
    """One page in a context of its own, and all that it complained of."""

    def __init__(self, browser, address, width=1200, height=900, scheme="light", **options):
        self.address = address
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.complaints, self.foreign, self.sizes = [], [], {}
        self.page.on("console", lambda told: self.complain(told.text, told.location) if told.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self.see)

    def complain(self, text, location):
        self.complaints.append(f"{text} {location.get('url', '')}")

    def see(self, request):
        if urllib.parse.urlsplit(request.url).netloc not in (urllib.parse.urlsplit(self.address).netloc, ""):
            self.foreign.append(request.url)

    def go(self, token=None):
        self.page.goto(self.address + (f"#token={token}" if token else ""))
        if token:
            self.page.wait_for_selector("#version:not(:empty)")
        return self.page

    def hide(self, is_hidden):
        self.page.evaluate(HIDE, is_hidden)

    def examine(self):
        """What must hold of every state of the page."""
        self.no_sideways()
        small = self.page.evaluate(SMALL)
        expect(not small, f"smaller than 44 px: {small[:3]}")
        self.axe()

    def no_sideways(self):
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        expect(wide <= 0, f"the page is {wide} px too wide")

    def axe(self):
        # The policy forbids a script within the page; through the debugger's door it is let in.
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("tags => axe.run({runOnly: tags})", TAGS)
        faults = [f"{fault['id']}: {fault['nodes'][0]['html'][:120]}" for fault in found["violations"]]
        expect(not faults, f"axe: {faults}")
        return len(found["passes"])

    def close(self, may_complain=False):
        self.context.close()
        expect(not self.foreign, f"asked elsewhere: {self.foreign[:3]}")
        expect(may_complain or not self.complaints, f"the console says: {self.complaints[:3]}")
