"""Plays lines of the daemon into a session, without a daemon: python3 -m unittest."""
import contextlib
import io
import json
import os
import pathlib
import threading
import unittest

import wakehandler

RECORDED = pathlib.Path(__file__).resolve().parents[2] / "Devices/heart-rate-monitor/expected.ndjson"


def event(sequence, device="strap", attempt=1, kind="data", **data):
    return json.dumps({
        "id": f"j1-{sequence}", "source": f"/bluetooth/{device}", "type": f"wakebridge.device.{kind}",
        "subject": device, "time": "2026-11-21T07:42:46.727125Z", "seq": sequence, "attempt": attempt,
        "budgetms": 10000, "data": data or {"value": {"bpm": 73}, "raw": "1049", "characteristic": "2a37"}})


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

    def test_log_lines_are_written_at_once(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.session.log("62 bpm")
        self.assertEqual(output.getvalue(), "62 bpm\n")


if __name__ == "__main__":
    unittest.main()
