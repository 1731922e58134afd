"""Plays lines of the daemon into a session, without a daemon: python3 -m unittest."""
import contextlib
import datetime
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

import wakehandler

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/python-api.md"
RECORDED = pathlib.Path(__file__).resolve().parents[2] / "Devices/heart-rate-monitor/expected.ndjson"


def event(sequence, device="strap", attempt=1, kind="data", **data):
    return json.dumps({
        "id": f"j1-{sequence}", "source": f"/bluetooth/{device}", "type": f"wakebridge.device.{kind}",
        "subject": device, "time": "2026-11-21T07:42:46.727125Z", "seq": sequence, "attempt": attempt,
        "budgetms": 10000, "data": data or {"value": {"bpm": 73}, "raw": "1049", "characteristic": "2a37"}})


def scheduled(sequence, name, **data):
    return json.dumps({
        "id": f"j1-{sequence}", "source": f"/{name.split('.')[0]}/h/{data.get('id', data.get('job', ''))}",
        "type": f"wakebridge.{name}", "subject": "h", "time": "2026-11-21T07:42:46.727125Z", "seq": sequence,
        "attempt": 1, "budgetms": 10000, "data": data})


def alarm(sequence, id="tea", **data):
    return scheduled(sequence, "alarm.fired", id=id, **data)


def job(sequence, kind="processing", **data):
    return scheduled(sequence, "job.due", job="backup", kind=kind, **data)


def expiring(reason, *open):
    return notice("expiring", reason=reason, remaining_ms=2000, tasks=[], open=open)


def gap(sequence, start, end):
    return event(sequence, kind="gap", **{"cause": "overflow", "from": start, "to": end})


def notice(kind, **data):
    return json.dumps({"id": "n1", "source": "/wakebridge", "type": f"wakebridge.{kind}", "data": data})


class SessionTest(unittest.TestCase):
    def setUp(self):
        self.reading, self.feeding = os.pipe()
        self.answers, writing = os.pipe()
        self.notices = []
        self.session = wakehandler.Session(on_notice=self.notices.append, input=self.reading, replies=writing)
        self.writing = writing

    def tearDown(self):
        for descriptor in (self.reading, self.answers, self.feeding, self.writing):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def feed(self, *lines, ends=True):
        os.write(self.feeding, ("\n".join(lines) + "\n").encode())
        if ends:
            os.close(self.feeding)

    def replies(self):
        os.close(self.writing)
        with os.fdopen(os.dup(self.answers)) as file:
            return [json.loads(line) for line in file]

    def test_each_event_of_a_recording_is_acknowledged(self):
        self.feed(RECORDED.read_text().rstrip("\n"))
        rates = []
        for event in self.session.events():
            rates += [event.value["bpm"]] if "bpm" in event.value else []
            event.done()
        self.assertEqual((rates[0], len(rates)), (62, 91))
        self.assertEqual([reply["ack"] for reply in self.replies()], list(range(1, 97)))

    def test_an_event_has_what_the_line_says(self):
        self.feed(event(7, attempt=2))
        (seen,) = self.session.events()
        self.assertEqual((seen.kind, seen.id, seen.device, seen.attempt), ("data", "j1-7", "strap", 2))
        self.assertEqual((seen.bytes, seen.value, seen.characteristic), (b"\x10I", {"bpm": 73}, "2a37"))
        self.assertEqual(seen.time.isoformat(), "2026-11-21T07:42:46.727125+00:00")
        self.assertEqual(self.replies(), [])

    def test_an_event_that_is_not_finished_holds_back_those_after_it(self):
        self.feed(event(1), event(2))
        first, second = self.session.events()
        second.done("nothing")
        first.done()
        self.assertEqual(self.replies(), [{"ack": 2, "result": "nothing"}])

    def test_what_follows_a_retry_of_its_device_comes_again_in_order(self):
        self.feed(event(2), event(3), event(4, device="other"), ends=False)
        seen = []
        for each in self.session.events():
            seen.append((each.sequence, each.attempt))
            each.retry(1.5) if seen == [(2, 1)] else each.done()
            if each.sequence == 4:
                self.feed(event(2, attempt=2), event(3, attempt=2))
        self.assertEqual(seen, [(2, 1), (4, 1), (2, 2), (3, 2)])
        self.assertEqual(self.replies()[0], {"nack": 2, "after_s": 1.5})

    def seen_after_a_retry(self, *lines):
        """The numbers that a handler gets which gives event 2 back before these lines come."""
        self.feed(event(2), event(3), ends=False)
        seen = []
        for each in self.session.events():
            seen.append(each.sequence)
            if seen == [2]:
                each.retry()
                self.feed(*lines)
            else:
                each.done()
        return seen

    def test_a_gap_that_covers_a_refused_event_ends_the_wait_for_it(self):
        lost = gap(9, "2026-11-21T07:42:46.727125Z", "2026-11-21T07:42:46.727125Z")
        self.assertEqual(self.seen_after_a_retry(lost, event(10)), [2, 9, 10])

    def test_a_gap_of_another_time_leaves_the_refused_events_with_the_daemon(self):
        before = gap(9, "2026-11-21T07:42:40Z", "2026-11-21T07:42:46Z")
        after = gap(10, "2026-11-21T07:42:47Z", "2026-11-21T07:42:48Z")
        again = [event(2, attempt=2), event(3, attempt=2)]
        self.assertEqual(self.seen_after_a_retry(before, after, event(11), *again), [2, 2, 3])
        self.assertEqual([reply.get("ack") for reply in self.replies()], [None, 2, 3])

    def test_events_that_the_daemon_took_back_are_forgotten(self):
        self.feed(event(1), event(2), notice("resumed", frozen_for_ms=1, reason="owed", open=[2]))
        self.assertEqual([each.sequence for each in self.session.events()], [2])

    def test_the_checkpoint_comes_before_the_first_event(self):
        self.feed(notice("restored", reason="data", devices=[], checkpoint="at 7"), event(1))
        for each in self.session.events():
            self.assertEqual(self.session.restoration.checkpoint, "at 7")
            self.session.checkpoint("at 8")
            each.done()
        self.assertEqual(self.replies()[0], {"checkpoint": "at 8"})
        self.assertEqual([each.kind for each in self.notices], ["restored"])

    def test_a_task_expires_once_and_is_ended(self):
        expired = []
        self.feed(notice("expiring", reason="extension", remaining_ms=2000, tasks=["up"], open=[]), ends=False)
        with self.session.task("up", lambda: expired.append(True)) as task:
            with self.assertRaises(wakehandler.Expired):
                task.check()
        self.assertEqual((expired, self.replies()), ([True], [{"begin": "up", "ref": 1}, {"end": "up"}]))

    def test_a_task_that_the_daemon_refuses_is_not_ended(self):
        self.feed(notice("error", code="no-extension-left", ref=1), ends=False)
        with self.session.task("up") as task:
            with self.assertRaises(wakehandler.Expired):
                task.check()
        self.assertEqual(self.replies(), [{"begin": "up", "ref": 1}])

    def test_requests_wait_for_their_answers_and_keep_the_events_that_come_first(self):
        self.feed(event(1), notice("reply", device="strap", ref=1), ends=False)
        self.session.write("strap", b"\x01", "2A39")
        self.feed(notice("reply", device="strap", hex="ff", ref=2), ends=False)
        self.assertEqual(self.session.read("strap", "2a38"), b"\xff")
        self.feed(notice("remaining", remaining_ms=500, ref=3), ends=False)
        self.assertEqual(self.session.time_remaining(), 0.5)
        self.feed(notice("error", code="replayed", sentence="No.", ref=4))
        with self.assertRaises(wakehandler.BridgeError) as refused:
            self.session.read("strap")
        self.assertEqual(refused.exception.code, "replayed")
        with self.assertRaises(wakehandler.BridgeError) as closed:
            self.session.read("strap")
        self.assertEqual(closed.exception.code, "closed")
        self.assertEqual([each.sequence for each in self.session.events()], [1])
        self.assertEqual(self.replies()[0]["write"], {"device": "strap", "characteristic": "2a39", "hex": "01"})

    def test_alarms_polls_and_jobs_have_a_kind_a_name_and_a_value(self):
        self.feed(alarm(1, data={"cups": 2}), alarm(2), scheduled(3, "poll.due", interval_s=900), job(4))
        seen = [(each.kind, each.name, each.value) for each in self.session.events()]
        self.assertEqual(seen, [
            ("alarm.fired", "tea", {"cups": 2}), ("alarm.fired", "tea", {}), ("poll.due", "", {"interval_s": 900}),
            ("job.due", "backup", {"job": "backup", "kind": "processing"})])

    def test_a_region_has_a_kind_and_a_name(self):
        self.feed(scheduled(1, "region.entered", id="home", initial=True), scheduled(2, "region.exited", id="home"))
        entered, left = self.session.events()
        self.assertEqual((entered.kind, entered.name, entered.value["initial"]), ("region.entered", "home", True))
        self.assertEqual((left.kind, left.name), ("region.exited", "home"))

    def test_the_state_of_a_region_can_be_asked_for(self):
        state = self.answered(lambda: self.session.region_state("home"), state="inside", pending=[])
        self.assertEqual(state, "inside")

    def test_a_long_job_holds_back_no_event_after_it_and_only_its_own_number_closes_it(self):
        self.feed(job(1), event(2), alarm(3))
        work, *others = self.session.events()
        for each in others:
            each.done("nothing")
        work.progress(3, 10)
        work.done()
        self.assertEqual(self.replies(), [
            {"ack": 2, "result": "nothing"}, {"ack": 3, "result": "nothing"}, {"progress": 1, "done": 3, "total": 10},
            {"ack": 1, "result": "useful"}])

    def test_a_long_job_before_which_an_event_is_open_is_acknowledged_at_once(self):
        self.feed(event(1), job(2), job(3, kind="refresh"))
        first, work, short = self.session.events()
        short.done()
        work.done()
        first.done()
        self.assertEqual([reply["ack"] for reply in self.replies()], [2, 3])

    def test_a_long_job_that_is_closed_twice_gets_the_error_of_the_bridge(self):
        self.feed(job(1), ends=False)
        work = next(self.session.events())
        work.done()
        work.done()
        self.feed(notice("error", code="stale-lease", sentence="Closed.", advice="Nothing."))
        self.assertEqual(list(self.session.events()), [])
        self.assertEqual([reply["ack"] for reply in self.replies()], [1, 1])
        self.assertEqual([each.data["code"] for each in self.notices], ["stale-lease"])

    def test_events_that_come_during_a_long_job_can_be_taken_between_its_steps(self):
        self.feed(job(1), alarm(2), ends=False)
        work = next(self.session.events())
        self.assertEqual([each.sequence for each in self.session.events(wait=False)], [2])
        self.feed(event(3), ends=False)
        self.assertEqual([each.sequence for each in self.session.events(wait=False)], [3])
        self.assertEqual(list(self.session.events(wait=False)), [])
        work.done()

    def test_the_end_of_the_time_of_a_job_reaches_its_steps_and_no_task(self):
        self.feed(job(1), event(2), ends=False)
        work, other = self.session.events(wait=False)
        task = self.session.begin("up")
        self.feed(expiring("condition", 1), ends=False)
        with self.assertRaises(wakehandler.Expired):
            work.progress(1)
        task.check()
        other.check()
        self.assertEqual((work.expiration, other.expiration), ("condition", None))
        work.retry()
        self.assertEqual(self.replies()[1:], [{"progress": 1, "done": 1}, {"nack": 1}])

    def test_the_budget_of_the_batch_and_the_sleep_of_the_machine_end_no_long_job(self):
        self.feed(job(1), alarm(2), expiring("system-sleep", 1, 2), ends=False)
        work, other = self.session.events(wait=False)
        self.assertIsNone(other.expiration)
        self.feed(expiring("budget", 1, 2), ends=False)
        work.check()
        self.assertEqual((work.expiration, other.expiration), (None, "budget"))
        self.feed(expiring("memory", 1, 2), ends=False)
        with self.assertRaises(wakehandler.Expired):
            work.check()

    def test_an_expiration_that_comes_before_the_event_is_taken_is_not_lost(self):
        self.feed(job(1), expiring("condition", 1))
        self.assertEqual([each.expiration for each in self.session.events()], ["condition"])

    def test_a_job_that_the_daemon_took_back_expires_and_one_that_it_did_not_has_its_time_again(self):
        self.feed(job(1), job(2), expiring("memory", 1, 2), ends=False)
        lost, kept = self.session.events(wait=False)
        self.feed(notice("resumed", frozen_for_ms=1, reason="owed", open=[2]), ends=False)
        kept.progress(1)
        self.feed(notice("resumed", frozen_for_ms=1, reason="owed", open=[]), ends=False)
        for each, reason in ((lost, "memory"), (kept, "budget")):
            with self.assertRaises(wakehandler.Expired):
                each.check()
            self.assertEqual(each.expiration, reason)

    def test_what_is_scheduled_is_given_back_until_conditions_are_true(self):
        self.feed(event(1), alarm(2), job(3), alarm(4, id="x"))
        first, tea, work, other = self.session.events()
        with self.assertRaises(ValueError):
            first.retry(until=["network"])
        with self.assertRaises(ValueError):
            tea.retry(5, until=["network"])
        tea.retry(until=["network", "power"])
        work.retry(until="mount:/data")
        other.done()
        first.done()
        self.assertEqual(self.replies(), [
            {"nack": 2, "until": ["network", "power"]}, {"nack": 3, "until": ["mount:/data"]},
            {"ack": 4, "result": "useful"}])

    def test_an_alarm_that_was_given_back_comes_again_under_any_number(self):
        self.feed(alarm(1), ends=False)
        next(self.session.events()).retry(until=["network"])
        self.feed(alarm(7))
        self.assertEqual([each.sequence for each in self.session.events()], [7])

    def answered(self, order, **answer):
        """What an order returns that gets this answer."""
        self.feed(notice("reply", ref=self.session._last_reference + 1, **answer), ends=False)
        return order()

    def test_orders_say_what_was_asked_for(self):
        session, noon = self.session, datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
        for order in (
            lambda: session.alarm("tea", in_s=240, data={"cups": 2}, alert="Tea"),
            lambda: session.alarm("x", at=noon, catch_up="skip", leeway_s=60),
            lambda: session.alarm("pill", daily=["07:30"], days=["mon"], zone="Europe/Berlin"),
            lambda: session.alarm("stretch", every_s=3600),
            lambda: session.cancel_alarm("tea"), session.cancel_alarms,
            lambda: session.submit("backup"),
            lambda: session.submit("backup", not_before_s=0, deadline_s=60, require=[], strategy="queue"),
            lambda: session.cancel_job("backup"), session.cancel_jobs, lambda: session.register("backup"),
            lambda: session.poll(900), lambda: session.poll(None), session.pending,
            lambda: session.region_state("home"),
        ):
            self.answered(order)
        replies = self.replies()
        self.assertEqual([reply.pop("ref") for reply in replies], list(range(1, 16)))
        self.assertEqual(replies, [
            {"alarm": {"id": "tea", "in_s": 240, "data": {"cups": 2}, "alert": "Tea"}},
            {"alarm": {"id": "x", "at": "2026-11-22T12:00:00+00:00", "catch_up": "skip", "leeway_s": 60}},
            {"alarm": {"id": "pill", "daily": ["07:30"], "days": ["mon"], "zone": "Europe/Berlin"}},
            {"alarm": {"id": "stretch", "every_s": 3600}},
            {"cancel": {"alarm": "tea"}}, {"cancel": {"alarms": True}}, {"submit": {"job": "backup"}},
            {"submit": {"job": "backup", "not_before_s": 0, "deadline_s": 60, "require": [], "strategy": "queue"}},
            {"cancel": {"job": "backup"}}, {"cancel": {"jobs": True}}, {"register": "backup"},
            {"poll": {"min_interval_s": 900}}, {"poll": "never"}, {"pending": True}, {"state": {"region": "home"}}])

    def test_the_answer_to_an_order_says_what_became_of_it_and_what_is_pending(self):
        entry = {"source": "job", "id": "backup", "state": "waiting", "due": "2026-11-22T12:00:00Z",
                 "waits_for": ["power"]}
        answer = self.answered(lambda: self.session.submit("backup"), submit="replaced", pending=[entry])
        (pending,) = answer.pending
        self.assertEqual((answer.outcome, pending.source, pending.id, pending.state, pending.waits_for),
                         ("replaced", "job", "backup", "waiting", ["power"]))
        self.assertEqual((pending.due.isoformat(), pending.deadline, pending.next_chance, pending.sequence),
                         ("2026-11-22T12:00:00+00:00", None, None, None))
        listed = self.answered(self.session.pending, pending=[entry, {**entry, "event": 7, "state": "running"}])
        self.assertEqual([each.sequence for each in listed], [None, 7])

    def test_an_order_that_is_refused_raises_the_code(self):
        self.feed(notice("error", code="too-many", sentence="No.", advice="Cancel one.", ref=1), ends=False)
        with self.assertRaises(wakehandler.BridgeError) as refused:
            self.session.alarm("tea", in_s=240)
        self.assertEqual(refused.exception.code, "too-many")

    def test_a_new_process_is_told_what_is_pending(self):
        self.feed(notice("restored", reason="alarm", devices=[], pending=[
            {"source": "alarm", "id": "tea", "state": "queued", "waits_for": [], "event": 1}]), alarm(1))
        next(self.session.events())
        self.assertEqual([(each.source, each.id) for each in self.session.restoration.pending], [("alarm", "tea")])

    def test_lines_stay_in_order_when_a_callback_reads_on(self):
        def ask(_):
            self.feed(notice("remaining", remaining_ms=500, ref=1), event(2))
            self.session.time_remaining()
        self.session._on_notice = ask
        self.feed(notice("memory", level="some"), event(1), ends=False)
        self.assertEqual([each.sequence for each in self.session.events()], [1, 2])

    def test_a_callback_finds_its_answer_behind_the_line_that_called_it(self):
        left = []
        self.session._on_notice = lambda _: left.append(self.session.time_remaining())
        self.feed(notice("memory", level="some"), notice("remaining", remaining_ms=500, ref=1))
        self.assertEqual(list(self.session.events()), [])
        self.assertEqual(left, [0.5])

    def test_a_line_that_is_no_event_is_told_and_passed_over(self):
        self.feed("garbage", event(1))
        self.assertEqual([each.sequence for each in self.session.events()], [1])
        self.assertEqual(self.notices[0].data["code"], "malformed")

    def test_a_closed_descriptor_or_a_gone_reader_stops_no_handler(self):
        os.close(self.answers)
        self.feed(event(1), event(2))
        for each in self.session.events():
            each.done()
        self.assertIsNone(wakehandler.Session(replies=200)._replies)

    def test_input_that_does_not_block_is_waited_for(self):
        os.set_blocking(self.reading, False)
        feeding = threading.Timer(0.05, self.feed, [event(1)])
        feeding.start()
        self.assertEqual([each.sequence for each in self.session.events()], [1])
        feeding.join()

    def test_a_reply_waits_for_room_in_a_pipe_that_does_not_block(self):
        os.set_blocking(self.writing, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(self.writing, b" " * 4096)
        emptying = threading.Timer(0.05, os.read, [self.answers, filled])
        emptying.start()
        self.feed(event(1))
        for each in self.session.events():
            each.done()
        emptying.join()
        self.assertEqual(self.replies(), [{"ack": 1, "result": "useful"}])

    def test_the_programs_of_the_page_answer_what_comes_to_them(self):
        programs = PAGE.read_text(encoding="utf-8").split("```python\n")[1:]
        self.assertEqual(len(programs), 2)
        lines = event(1), alarm(2, data={"dose": 2}), scheduled(3, "poll.due", interval_s=900), job(4)
        for program in programs:
            outcome = subprocess.run(
                [sys.executable, "-Bc", program.split("```")[0]], input="\n".join(lines), text=True, check=True,
                stdout=subprocess.PIPE, cwd=pathlib.Path(__file__).parent, env={**os.environ, "WAKEBRIDGE_FD": "1"})
            acknowledged = [line for line in outcome.stdout.splitlines() if line.startswith('{"ack":')]
            self.assertEqual(len(acknowledged), 4, outcome.stdout)

    def test_log_lines_are_written_at_once(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.session.log("62 bpm")
        self.assertEqual(output.getvalue(), "62 bpm\n")


if __name__ == "__main__":
    unittest.main()
