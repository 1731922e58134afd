"""Plays lines of the daemon into a session, without a daemon: python3 -m unittest."""
import asyncio
import contextlib
import datetime
import io
import json
import logging
import os
import pathlib
import socket
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


def scheduled(sequence, type, **data):
    return json.dumps({
        "id": f"j1-{sequence}", "source": f"/{type.split('.')[0]}/h/{data.get('id', data.get('job', ''))}",
        "type": f"wakebridge.{type}", "subject": "h", "time": "2026-11-21T07:42:46.727125Z", "seq": sequence,
        "attempt": 1, "budgetms": 10000, "data": data})


def alarm(sequence, id="tea", **data):
    return scheduled(sequence, "alarm.fired", id=id, **data)


def job(sequence, kind="processing", **data):
    return scheduled(sequence, "job.due", job="backup", kind=kind, **data)


def expiring(reason, *open):
    return notice("expiring", reason=reason, remaining_ms=2000, tasks=[], open=open)


def array(number):
    return number.to_bytes(4, sys.byteorder)


def gap(sequence, start, end):
    return event(sequence, kind="gap", **{"cause": "overflow", "from": start, "to": end})


def notice(kind, **data):
    return json.dumps({"id": "n1", "source": "/wakebridge", "type": f"wakebridge.{kind}", "data": data})


class SocketTest(unittest.TestCase):
    """Descriptors that the process inherits or is passed, each taken when the event that tells of it is."""

    def setUp(self):
        self.reading, self.feeding = os.pipe()
        self.replies, writing = os.pipe()
        self.daemon, handler = socket.socketpair()
        self.daemon.shutdown(socket.SHUT_RD)
        self.far, self.near = socket.socketpair()
        given = {"WAKEBRIDGE_SOCKETS": f"sip={os.dup(self.near.fileno())}", "WAKEBRIDGE_SOCKETS_FD": str(handler.fileno())}
        for name, value in given.items():
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name)
        self.session = wakehandler.Session(input=self.reading, replies=writing)
        for one in (self.daemon, handler, self.far, self.near):
            self.addCleanup(one.close)
        for number in (self.reading, self.replies, writing):
            self.addCleanup(os.close, number)

    def feed(self, *lines):
        os.write(self.feeding, "".join(line + "\n" for line in lines).encode())
        os.close(self.feeding)

    def test_an_inherited_socket_is_there_until_its_closing_is_told(self):
        self.feed(scheduled(1, "socket.readable", socket="sip", fd=4, bytes=2),
                  scheduled(2, "socket.closed", socket="sip", reason="peer"))
        self.far.sendall(b"hi")
        seen = []
        for one in self.session.events():
            held = self.session.socket("sip")
            seen.append((one.kind, one.name, held and held.recv(16)))
            one.done()
        self.assertEqual(seen, [("socket.readable", "sip", b"hi"), ("socket.closed", "sip", None)])
        self.assertIsNone(self.session.socket("web"))

    def test_a_passed_socket_takes_the_place_of_the_former(self):
        other, passed = socket.socketpair()
        self.addCleanup(other.close)
        self.daemon.sendmsg([b'{"socket":"sip"}\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array(passed.fileno()))])
        passed.close()
        self.feed(scheduled(1, "socket.opened", socket="sip", passed=True))
        for one in self.session.events():
            self.session.socket("sip").sendall(b"new")
            one.done()
        self.assertEqual(other.recv(16), b"new")

    def test_orders_are_written_as_the_daemon_reads_them(self):
        os.write(self.feeding, notice("reply", ref=1, keepalive="set", pending=[]).encode() + b"\n")
        self.assertEqual(self.session.keepalive("sip", 900).outcome, "set")
        self.feed(notice("reply", ref=2, reconnect="reconnecting", pending=[]))
        self.assertEqual(self.session.reconnect("sip").outcome, "reconnecting")
        lines = [json.loads(line) for line in os.read(self.replies, 4096).splitlines()]
        self.assertEqual(lines, [{"keepalive": {"socket": "sip", "within_s": 900}, "ref": 1},
                                 {"reconnect": "sip", "ref": 2}])


class CentralTest(unittest.TestCase):
    def setUp(self):
        self.reading, self.feeding = os.pipe()
        self.replies, writing = os.pipe()
        for one in (self.reading, self.feeding, self.replies, writing):
            self.addCleanup(os.close, one)
        self.session = wakehandler.Session(input=self.reading, replies=writing)

    def write(self, line):
        os.write(self.feeding, line.encode() + b"\n")

    def test_a_write_is_served_on_and_a_read_is_answered(self):
        central = {"service": "180d", "central": "C0:00:00:00:00:01", "bonded": True}
        events = self.session.events()
        self.write(scheduled(1, "peripheral.written", characteristic="2a39", hex="0102", **central))
        written = next(events)
        self.assertEqual((written.kind, written.bytes, written.characteristic), ("peripheral.written", b"\x01\x02", "2a39"))
        self.write(notice("reply", ref=1, serve="behind", pending=[]))
        self.assertEqual(self.session.serve("2a37", written.bytes, centrals=[written.data["central"]]), "behind")
        written.done()
        self.write(scheduled(2, "peripheral.read", characteristic="2a38", request=42, within_ms=4500, **central))
        read = next(events)
        self.write(notice("reply", ref=2, serve="served", pending=[]))
        self.assertEqual(self.session.answer_read(read, b"\x07"), "served")
        read.done()
        lines = [json.loads(line) for line in os.read(self.replies, 4096).splitlines()]
        self.assertEqual([line["serve"] for line in lines if "serve" in line], [
            {"characteristic": "2a37", "hex": "0102", "centrals": ["C0:00:00:00:00:01"]}, {"request": 42, "hex": "07"}])


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
        for event in self.session:
            with event:
                rates += [event.value["bpm"]] if "bpm" in event.value else []
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

    def test_an_exception_in_a_block_gives_the_event_back_and_the_loop_goes_on(self):
        self.feed(event(1), event(2, device="other"), event(3, device="third"))
        with self.assertLogs("wakehandler", "ERROR") as logged:
            for each in self.session:
                with each:
                    if each.sequence == 1:
                        raise ValueError("the disk is full")
                    if each.sequence == 2:
                        raise wakehandler.Expired("no time")
        self.assertEqual(self.replies(), [{"nack": 1}, {"nack": 2}, {"ack": 3, "result": "useful"}])
        self.assertEqual(len(logged.output), 1)
        self.assertIn("the disk is full", logged.output[0])

    def test_an_interrupt_in_a_block_gives_the_event_back_and_ends_the_program(self):
        self.feed(event(1), ends=False)
        with self.assertRaises(KeyboardInterrupt), next(iter(self.session)):
            raise KeyboardInterrupt
        self.assertEqual(self.replies(), [{"nack": 1}])

    def test_an_event_that_its_block_finishes_is_not_finished_again_and_a_flow_stays_open(self):
        self.feed(event(1), job(2), scheduled(3, "flow.started", name="ecg"), event(4))
        for each in self.session:
            with each:
                if each.sequence < 3:
                    each.done("nothing")
        self.assertEqual(self.replies(), [{"ack": 1, "result": "nothing"}, {"ack": 2, "result": "nothing"},
                                          {"ack": 4, "result": "useful"}])

    def test_a_kind_is_an_enum_that_equals_its_word_also_one_of_a_later_version(self):
        self.feed(event(1), event(2, kind="teleported"))
        known, unknown = self.session.events()
        self.assertIs(known.kind, wakehandler.EventKind.DATA)
        self.assertEqual((known.kind, f"{known.kind}", str(known.kind)), ("data", "data", "data"))
        self.assertIsInstance(unknown.kind, wakehandler.EventKind)
        self.assertEqual((unknown.kind, json.dumps(unknown.kind)), ("teleported", '"teleported"'))
        with self.assertRaises(ValueError):
            known.done("splendid")

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

    def test_a_message_has_its_text_its_topic_and_its_bytes(self):
        self.feed(
            scheduled(1, "message.received", id="7", topic="cfg", payload="gr\u00fc\u00dfe"),
            scheduled(2, "message.received", id="8", raw="ff00"))
        text, binary = self.session.events()
        self.assertEqual((text.kind, text.name, text.topic), ("message.received", "7", "cfg"))
        self.assertEqual((text.text, text.bytes), ("gr\u00fc\u00dfe", "gr\u00fc\u00dfe".encode()))
        self.assertEqual((binary.text, binary.topic, binary.bytes), (None, None, b"\xff\x00"))

    def test_the_beginning_of_a_flow_stays_open_until_its_end_comes(self):
        self.feed(scheduled(1, "flow.started", name="ecg"), scheduled(2, "flow.ended", name="ecg", reason="idle"))
        started, ended = list(self.session.events())
        self.assertEqual((started.name, ended.name, ended.reason), ("ecg", "ecg", "idle"))
        ended.done()
        self.assertEqual(self.replies(), [{"ack": 2, "result": "useful"}])

    def test_a_flow_of_its_own_is_opened_and_closed(self):
        self.assertEqual(self.answered(lambda: self.session.open_flow("ecg"), flow="open", pending=[]), "open")

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

    def test_a_session_of_transfers_orders_resumes_and_cancels_its_tasks(self):
        photos = self.session.transfers("photos")
        pending = [{"source": "transfer", "id": name, "state": "waiting", "waits_for": []}
                   for name in ("photos/9", "maps/1")] + [{"source": "poll", "state": "waiting", "waits_for": []}]
        download = photos.download_task("17", "http://h/17", "17.jpg", sha256="0", paused=True)
        upload = photos.upload_task("18", "out/18", "http://h/18", method="POST", deadline_s=9)
        self.assertEqual(self.answered(download.resume, transfer="ordered", pending=[]).outcome, "ordered")
        self.assertEqual(self.answered(upload.resume, transfer="known", pending=[]).outcome, "known")
        [task] = self.answered(photos.tasks, pending=pending)
        self.answered(task.resume, resume="resumed", pending=[])
        self.answered(task.cancel, cancel="cancelled", pending=[])
        self.assertEqual(self.replies(), [
            {"transfer": {"session": "photos", "id": "17", "url": "http://h/17", "to": "17.jpg", "sha256": "0",
                          "paused": True}, "ref": 1},
            {"transfer": {"session": "photos", "id": "18", "url": "http://h/18", "from": "out/18", "method": "POST",
                          "deadline_s": 9}, "ref": 2},
            {"pending": True, "ref": 3}, {"resume": "photos/9", "ref": 4}, {"cancel": {"transfer": "photos/9"}, "ref": 5}])

    def test_what_becomes_of_transfers_goes_to_the_delegate_of_their_session(self):
        calls = []

        class Album(wakehandler.TransferDelegate):
            def finished(self, task, path, event):
                calls.append(("finished", task.id, path, event.name))

            def failed(self, task, why, event):
                calls.append(("failed", task.id, why))

            def challenged(self, task, realm, event):
                return ("me", "word") if task.id == "19" else None

            def settled(self, session, finished, failed, event):
                calls.append(("settled", session.name, finished, failed))

        self.session.transfers("photos", Album())
        self.feed(scheduled(1, "transfer.finished", session="photos", id="17", ok=True, path="17.jpg"),
                  scheduled(2, "transfer.finished", session="photos", id="18", ok=False, why="checksum", path="18.jpg"),
                  scheduled(3, "transfer.challenge", session="photos", id="19", realm="r"),
                  scheduled(4, "transfer.challenge", session="photos", id="20", realm="r"),
                  scheduled(5, "transfer.settled", session="photos", finished=1, failed=1),
                  scheduled(6, "transfer.settled", session="maps", finished=1, failed=0))
        others = []
        for event in self.session.events():
            others.append(event.data["session"])
            event.done()
        self.assertEqual(others, ["maps"])
        self.assertEqual(calls, [("finished", "17", "17.jpg", "17"), ("failed", "18", "checksum"),
                                 ("settled", "photos", 1, 1)])
        replies = self.replies()
        self.assertEqual([reply["ack"] for reply in replies if "ack" in reply], [1, 2, 3, 4, 5, 6])
        self.assertIn({"credential": {"transfer": "photos/19", "user": "me", "password": "word"}}, replies)
        self.assertIn({"cancel": {"transfer": "photos/20"}}, replies)

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
        self.assertEqual(len(programs), 4)
        lines = (event(1), alarm(2, data={"dose": 2}), scheduled(3, "poll.due", interval_s=900), job(4),
                 scheduled(5, "message.received", payload="hi"))
        for program in programs:
            outcome = subprocess.run(
                [sys.executable, "-Bc", program.split("```")[0]], input="\n".join(lines), text=True, check=True,
                stdout=subprocess.PIPE, cwd=pathlib.Path(__file__).parent, env={**os.environ, "WAKEBRIDGE_FD": "1"})
            acknowledged = [line for line in outcome.stdout.splitlines() if line.startswith('{"ack":')]
            self.assertEqual(len(acknowledged), 5, outcome.stdout)

    def test_records_of_logging_are_lines_of_the_log_with_their_level(self):
        logger = logging.getLogger("test")
        logger.propagate = False
        logger.setLevel(logging.DEBUG)
        with contextlib.redirect_stdout(io.StringIO()) as output:
            logger.addHandler(wakehandler.LogHandler())
            logger.info("62 %s", "bpm")
            logger.warning("full")
        self.assertEqual(output.getvalue(), "62 bpm\nwarning: full\n")

    def test_log_lines_are_written_at_once(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.session.log("62 bpm")
        self.assertEqual(output.getvalue(), "62 bpm\n")


class AsyncSessionTest(unittest.IsolatedAsyncioTestCase):
    """The session for asyncio: the loop is free while it waits."""

    def setUp(self):
        self.reading, self.feeding = os.pipe()
        self.answers, self.writing = os.pipe()
        self.notices = []
        self.session = wakehandler.AsyncSession(
            on_notice=self.notices.append, input=self.reading, replies=self.writing)

    def tearDown(self):
        for descriptor in (self.answers, self.writing):
            os.close(descriptor)

    def feed(self, *lines):
        os.write(self.feeding, "".join(line + "\n" for line in lines).encode())

    def replies(self):
        return [json.loads(line) for line in os.read(self.answers, 65_536).splitlines()]

    async def test_events_are_iterated_over_while_other_work_of_the_loop_goes_on(self):
        async def feed():
            self.feed(event(1))
            await asyncio.sleep(0)
            self.feed(event(2, device="other"), "garbage")
            os.close(self.feeding)

        feeding, seen = asyncio.create_task(feed()), []
        async for each in self.session:
            with each:
                seen.append(each.sequence)
                await asyncio.sleep(0)
        await feeding
        self.assertEqual(seen, [1, 2])
        self.assertEqual([each.kind for each in self.notices], ["error"])
        self.assertEqual([reply["ack"] for reply in self.replies()], [1, 2])

    async def test_orders_and_requests_are_awaited_side_by_side_and_events_wait_meanwhile(self):
        asked = [self.session.alarm("tea", in_s=60), self.session.read("strap", "2a38"), self.session.pending(),
                 self.session.write("strap", b"\x01", "2a39"), self.session.poll(900)]
        self.feed(event(1), notice("reply", ref=2, hex="ff"), notice("reply", ref=1, alarm="set", pending=[]),
                  notice("reply", ref=3, pending=[{"source": "alarm", "id": "tea", "state": "waiting"}]),
                  notice("reply", ref=4), notice("error", ref=5, code="too-many", sentence="No.", advice="Less."))
        *answers, refused = await asyncio.gather(*asked, return_exceptions=True)
        self.assertEqual((answers[0].outcome, answers[1], answers[2][0].id, answers[3]), ("set", b"\xff", "tea", None))
        self.assertEqual(refused.code, "too-many")
        os.close(self.feeding)
        self.assertEqual([each.sequence async for each in self.session], [1])

    async def test_what_is_asked_when_the_input_ends_is_an_error_and_so_is_what_is_asked_after_it(self):
        asking = asyncio.create_task(self.session.time_remaining())
        await asyncio.sleep(0)
        os.close(self.feeding)
        for question in (asking, self.session.pending()):
            with self.assertRaises(wakehandler.BridgeError) as closed:
                await question
            self.assertEqual(closed.exception.code, "closed")

    async def test_a_cancelled_task_gives_its_event_back(self):
        async def work():
            async for each in self.session:
                with each:
                    await asyncio.Event().wait()

        working = asyncio.create_task(work())
        self.feed(event(1))
        while not self.session._open:
            await asyncio.sleep(0)
        working.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await working
        self.assertEqual(self.replies(), [{"nack": 1}])
        os.close(self.feeding)


if __name__ == "__main__":
    unittest.main()
