"""Runs handlers of this module under the daemon that WAKEBRIDGED names: python3 -m unittest test_daemon."""
import getpass
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import wakehandler

MODULE = pathlib.Path(wakehandler.__file__).resolve().parent
DAEMON = os.environ.get("WAKEBRIDGED", "")

# What each handler has before its own lines: a session, and say() for what the test waits for.
PREFACE = """
import json, os
import wakehandler
HOME = os.environ["WAKEBRIDGE_STATE_DIR"]
def say(*words):
    with open(HOME + "/said", "a") as file:
        file.write(json.dumps(words) + "\\n")
def notice(told):
    if told.kind == "error":
        say("error", told.data["code"])
session = wakehandler.Session(on_notice=notice)
def code(order, *words, **members):
    try:
        return order(*words, **members).outcome
    except wakehandler.BridgeError as error:
        return error.code
"""


@unittest.skipUnless(DAEMON, "WAKEBRIDGED names no daemon")
class DaemonTest(unittest.TestCase):
    """Each test has a daemon of its own, without devices, and one handler that is started with it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="wakepython.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.said_file = self.folder / "state/handlers/one/said"
        self.daemon = None
        self.addCleanup(self.stop, signal.SIGTERM)

    def start(self, agenda, program):
        (self.folder / "config/handlers.d").mkdir(parents=True)
        (self.folder / "handler.py").write_text(PREFACE + textwrap.dedent(program))
        (self.folder / "config/handlers.d/one.json5").write_text(f"""{{
            exec: ["{sys.executable}", "-uB", "{self.folder}/handler.py"], user: "{getpass.getuser()}",
            env: {{ PYTHONPATH: "{MODULE.parent}", FLAG: "{self.folder}/flag" }}, autostart: true, ready: "explicit",
            timers: {{ linger: "1h", launch: "1h", budget: "1h" }}, {agenda} }}""")
        self.launch()

    def launch(self):
        words = [DAEMON, "--no-bluetooth"]
        for name in ("config", "state", "runtime"):
            words += [f"--{name}", str(self.folder / name)]
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.daemon = subprocess.Popen(words, env=environment, stdout=log, stderr=log)

    def stop(self, number):
        if self.daemon:
            self.daemon.send_signal(number)
            self.daemon.wait(30)
            self.daemon = None

    def said(self):
        return [json.loads(line) for line in self.said_file.read_text().splitlines()] if self.said_file.exists() else []

    def hear(self, *words, within_s=300):
        """Waits until the handler has said this, and returns all that it has said."""
        end = time.monotonic() + within_s
        while list(words) not in self.said():
            log = (self.folder / "log").read_text()
            self.assertLess(time.monotonic(), end, f"{words} is not among {self.said()}\n{log}")
            time.sleep(0.01)
        return self.said()

    def test_orders_get_words_and_codes(self):
        self.start(
            """alarms: [], poll: { require: [] },
               jobs: [{ id: "a", kind: "refresh" }, { id: "b", kind: "refresh" }]""",
            """
            session.declare_ready()
            say("alarm", code(session.alarm, "tea", in_s=3600, data=[]), code(session.alarm, "tea", in_s=1800.5))
            say("daily", code(session.alarm, "pill", daily=["07:30"], days=["mon"], zone="Nowhere/None"))
            say("cancel", code(session.cancel_alarm, "tea"), code(session.cancel_alarm, "tea"))
            say("submit", code(session.submit, "a", not_before_s=3600), code(session.submit, "a", not_before_s=60))
            say("refused", code(session.submit, "b"), code(session.submit, "c"))
            say("poll", code(session.poll, 900), [(each.source, each.id) for each in session.pending()])
            say("gone", code(session.cancel_job, "a"), code(session.cancel_jobs), code(session.poll, None),
                code(session.cancel_alarms))
            say("end", len(session.pending()))
            for event in session.events():
                event.done()
            """)
        self.assertEqual(self.hear("end", 0), [
            ["alarm", "set", "replaced"], ["daily", "unavailable"], ["cancel", "cancelled", "not-registered"],
            ["submit", "submitted", "replaced"], ["refused", "too-many", "not-registered"],
            ["poll", "set", [["poll", ""], ["job", "a"]]], ["gone", "cancelled", "not-pending", "never", "cancelled"],
            ["end", 0]])

    def test_an_alarm_is_done_beside_a_long_job_which_only_its_own_number_ends(self):
        self.start(
            """alarms: [], jobs: [{ id: "backup", kind: "processing" }]""",
            """
            import time
            say("register", code(session.register, "backup"), code(session.register, "backup"))
            session.declare_ready()
            session.submit("backup")
            for work in session.events():
                say(work.kind, work.name, work.value["kind"])
                session.alarm("tea", in_s=0.1, data={"cups": 2})
                steps, alarms = 0, []
                while not alarms:
                    steps += 1
                    work.progress(steps)
                    time.sleep(0.02)
                    for alarm in session.events(wait=False):
                        alarms.append([alarm.kind, alarm.name, alarm.value])
                        alarm.done()
                say(*alarms)
                say("pending", [(each.id, each.state) for each in session.pending()])
                work.done()
                say("after", len(session.pending()))
                work.done()
                say("end", len(session.pending()))
            """)
        self.assertEqual(self.hear("end", 0), [
            ["register", "registered", "conflict"], ["job.due", "backup", "processing"],
            [["alarm.fired", "tea", {"cups": 2}]], ["pending", [["backup", "running"]]], ["after", 0],
            ["error", "stale-lease"], ["end", 0]])

    def test_a_job_whose_condition_goes_is_told_and_comes_again_when_that_is_back(self):
        (self.folder / "flag").touch()
        self.start(
            """jobs: [{ id: "backup", kind: "processing" }]""",
            """
            import time
            session.declare_ready()
            session.submit("backup", require=["unlocked:" + os.environ["FLAG"]])
            for work in session.events():
                say("due", work.data.get("returned"))
                try:
                    for steps in range(1, 10 ** 9 if work.data.get("returned") is None else 2):
                        work.progress(steps)
                        time.sleep(0.1)
                    work.done()
                    say("end", len(session.pending()))
                except wakehandler.Expired:
                    say("expired", work.expiration)
                    work.retry()
            """)
        self.hear("due", None)
        (self.folder / "flag").unlink()
        self.hear("expired", "condition")
        (self.folder / "flag").touch()
        # One that is slow to give it back is told that it was taken back.
        said = [words for words in self.hear("end", 0) if words != ["error", "stale-lease"]]
        self.assertEqual(said, [["due", None], ["expired", "condition"], ["due", "condition"], ["end", 0]])

    def test_what_is_given_back_until_a_condition_is_pending_after_the_daemon_was_killed(self):
        self.start(
            "alarms: []",
            """
            session.declare_ready()
            session.alarm("tea", in_s=0.1) if not os.path.exists(HOME + "/said") else None
            for alarm in session.events():
                if os.path.exists(os.environ["FLAG"]):
                    alarm.done()
                    say("done", alarm.name)
                else:
                    alarm.retry(until=["unlocked:" + os.environ["FLAG"]])
                    say("waits", [(each.id, each.state) for each in session.pending()])
            """)
        self.hear("waits", [["tea", "waiting"]])
        self.stop(signal.SIGKILL)
        handler = self.folder / "handler.py"
        handler.write_text(handler.read_text().replace(
            "for alarm in session.events():", """session.pending()
say("restored", [(each.id, each.state) for each in session.restoration.pending])
for alarm in session.events():""", 1))
        self.launch()
        self.hear("restored", [["tea", "waiting"]])
        (self.folder / "flag").touch()
        self.hear("done", "tea")


if __name__ == "__main__":
    unittest.main()
