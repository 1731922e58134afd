"""Pairs a device through the page of a real daemon, in a headless Chromium, as a person does.

    pair.py ADDRESS TOKEN DEVICE PASSKEY PICTURE

Prints what the page says on the way, `value: …` for its first value, and at last `outcome: paired` or `outcome: refused`. The
last screen goes to PICTURE. The machine may be an emulated one, so that it waits for long.
"""
import sys

from browser import Visit, chromium

PATIENCE_MS = 120_000


def main(address, token, device, passkey, picture):
    with chromium() as browser:
        visit = Visit(browser, address, width=360, height=760)
        visit.context.set_default_timeout(PATIENCE_MS)
        page = visit.go(token)
        page.get_by_role("button", name="Add").click()
        page.get_by_role("button", name="Search").click()
        page.locator(".neighbours button", has_text=device).click()
        for digit in passkey:
            page.locator(".keys").get_by_role("button", name=digit, exact=True).click()
        page.get_by_role("button", name="OK").click()
        paired, refused = page.get_by_text("Step 4 of 4"), page.get_by_text("It could not be paired")
        paired.or_(refused).wait_for()
        outcome = "paired" if paired.is_visible() else "refused"
        if outcome == "paired":
            page.locator(".first-value", has_text="bpm").wait_for()
            print("value:", page.locator(".first-value").inner_text())
        else:
            print("reason:", page.locator("dialog p", has_text=";").first.inner_text())
        page.screenshot(path=picture)
        visit.close(may_complain=True)
        print("outcome:", outcome)


if __name__ == "__main__":
    main(*sys.argv[1:])
