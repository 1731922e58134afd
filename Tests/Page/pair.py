"""Pairs devices through the page of a real daemon, in a headless Chromium, as a person does.

    pair.py PORT DIR

Each line of its input is an order, one JSON object of `token`, `device` (what stands on its row), `passkey` and `picture`. It is
answered by one JSON object: `outcome`, which is paired, refused or failed, and `says`, what the page showed at last. The last
screen goes to DIR/PICTURE, and complaints go to DIR/browser.log. The page is at PORT of this machine. The daemon may run on an
emulated one, so that it waits for long.
"""
import json
import os
import sys
import traceback

from browser import Visit, chromium

PATIENCE_MS = 120_000


def pair(page, device, passkey):
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Search").click()
    page.locator(".neighbours button", has_text=device).click()
    page.fill("[name=passkey]", passkey)
    page.get_by_role("button", name="OK").click()
    paired, refused = page.get_by_text("Step 4 of 4"), page.get_by_text("It could not be paired")
    paired.or_(refused).wait_for()
    if refused.is_visible():
        return {"outcome": "refused", "says": page.locator("dialog .screen").inner_text()}
    value = page.locator(".first-value", has_text="bpm")
    value.wait_for()
    return {"outcome": "paired", "says": value.inner_text()}


def main(port, folder):
    # The browser's driver inherits standard error, and lets it wait no more: an emulator gives one socket for all three.
    os.dup2(os.open(os.path.join(folder, "browser.log"), os.O_CREAT | os.O_WRONLY | os.O_APPEND), sys.stderr.fileno())
    with chromium() as browser:
        for line in sys.stdin:
            order = json.loads(line)
            visit = Visit(browser, f"http://127.0.0.1:{port}/", width=360, height=760)
            visit.context.set_default_timeout(PATIENCE_MS)
            try:
                answer = pair(visit.go(order["token"]), order["device"], order["passkey"])
            except Exception:
                answer = {"outcome": "failed", "says": traceback.format_exc()}
            visit.page.screenshot(path=os.path.join(folder, order["picture"]))
            visit.context.close()
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
