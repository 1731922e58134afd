// What is scheduled, as the tool says it to people: the table, a sentence for each entry, and what was sent as an alert.
import Glibc
import TestBench
import Testing
import WakeControl
import WakeModel

@testable import wakebridge

@Suite("What is scheduled, in words", .serialized) struct ScheduleTextTests {
    private let now = WallTime(rfc3339: "2026-11-21T12:00:00Z") ?? WallTime(microseconds: 0)

    /// The time so many minutes from now, as the daemon writes it and as a person here reads it.
    private func moment(_ minutes: Int64) -> (text: String, spoken: String) {
        let time = now + .seconds(60 * minutes)
        return (time.rfc3339, spokenSecond(time))
    }

    private func sentence(_ json: String) throws -> String {
        ScheduleEntry(entry: try JSONValue(parsing: Array(json.utf8)), now: now).sentence
    }

    private func waits(_ words: (String, String)...) -> String {
        words.map { #"{"for":"\#($0.0)","since":"\#($0.1)"}"# }.joined(separator: ",")
    }

    @Test("a job that waits for conditions names each with its time, and that it runs without them at its deadline")
    func conditions() throws {
        let (first, second, end) = (moment(-48), moment(-30), moment(420))
        let text = try sentence(
            """
            {"source":"job","id":"backup","state":"waiting","due":"\(moment(-60).text)","deadline":"\(end.text)",
             "next_chance":"\(end.text)","waits":[\(waits(("power", first.text), ("unmetered", second.text)))]}
            """)
        #expect(
            text == "job backup waits for power since \(first.spoken) and unmetered since \(second.spoken); "
                + "it runs without them at its deadline, \(end.spoken)")
    }

    @Test("of a condition that is true and settles, the end of that is told in place of when it went")
    func settling() throws {
        let (since, end) = (moment(-48), moment(2))
        let json = """
            {"source":"job","id":"backup","state":"waiting","due":"\(moment(-60).text)","deadline":"\(moment(420).text)",
             "next_chance":"\(end.text)","waits":[{"for":"power","since":"\(since.text)","settles":"\(end.text)"}]}
            """
        #expect(try sentence(json) == "job backup waits for power that settles until \(end.spoken)")
        let entry = ScheduleEntry(entry: try JSONValue(parsing: Array(json.utf8)), now: now)
        #expect(entry.row.suffix(2) == ["power (settles until \(end.spoken))", end.spoken])
    }

    @Test("an alarm that was handed back says until when it rests, and which condition it waits for")
    func handedBack() throws {
        let (since, rest) = (moment(-5), moment(1))
        let text = try sentence(
            """
            {"source":"alarm","id":"tea","state":"waiting","due":"\(since.text)","next_chance":"\(rest.text)",
             "waits":[\(waits(("time", since.text), ("mount:/data", since.text)))]}
            """)
        #expect(text == "alarm tea comes due \(rest.spoken), and waits for mount:/data since \(since.spoken)")
    }

    @Test("the table says what an entry requires that is not due yet")
    func requires() throws {
        let json = """
            {"source":"job","id":"a","state":"waiting","due":"\(moment(60).text)","requires":["power","cool"],
             "waits":[\(waits(("time", moment(-5).text), ("power", moment(-5).text)))]}
            """
        let entry = ScheduleEntry(entry: try JSONValue(parsing: Array(json.utf8)), now: now)
        let since = moment(-5).spoken
        #expect(entry.row[6] == "time (\(since)), power (\(since)), then cool")
    }

    @Test("what cannot be waived has no outcome, and a word that is no condition is said in words")
    func hard() throws {
        let since = moment(-5)
        let text = try sentence(
            """
            {"source":"job","id":"a","state":"waiting","due":"\(moment(-60).text)","deadline":"\(moment(60).text)",
             "waits":[\(waits(("mount:/data", since.text), ("slot", since.text)))]}
            """)
        #expect(
            text == "job a waits for mount:/data since \(since.spoken) and one of the two slots of long jobs since "
                + since.spoken)
    }

    @Test("what waits for time alone says when it comes due, and what also waits for something says both")
    func time() throws {
        let due = moment(60)
        let alarm = try sentence(
            """
            {"source":"alarm","id":"pill","state":"waiting","due":"\(due.text)","waits":[\(waits(("time", due.text)))]}
            """)
        #expect(alarm == "alarm pill comes due \(due.spoken)")
        let since = moment(-5)
        let both = try sentence(
            """
            {"source":"job","id":"a","state":"waiting","due":"\(due.text)",
             "waits":[\(waits(("time", since.text), ("power", since.text)))]}
            """)
        #expect(both == "job a comes due \(due.spoken), and waits for power since \(since.spoken)")
    }

    @Test("a poll says its interval, its slots and what is known of its hour; what runs says how far it is")
    func others() throws {
        let due = moment(15)
        let poll = try sentence(
            """
            {"source":"poll","state":"waiting","due":"\(due.text)","waits":[\(waits(("time", due.text)))],"interval_s":900,
             "slot_s":32,"bin":{"hour":"Sat 12:00","polls":12,"useful":0,"quiet":true}}
            """)
        #expect(
            poll == "the poll comes due \(due.spoken); it comes every 15 min, in slots of 32.0 s; "
                + "in the hour Sat 12:00 UTC, 0 of the last 12 were useful, so it keeps out of it")
        let running = try sentence(#"{"source":"job","id":"a","state":"running","done":40,"total":100}"#)
        #expect(running == "job a runs, 40 of 100 done")
        #expect(try sentence(#"{"source":"job","id":"a","state":"queued"}"#) == "job a is on its way to the handler")
    }

    private static let entries = """
        {"pending":[{"handler":"hr","source":"job","id":"backup","state":"waiting","due":"2026-11-21T07:00:00Z",
        "deadline":"2026-11-21T19:00:00Z","next_chance":"2026-11-21T19:00:00Z",
        "waits":[{"for":"power","since":"2026-11-21T07:12:30Z"}],
        "history":[{"at":"2026-11-21T07:00:00Z","what":"submitted"}]}],"jobs":["backup"]}
        """

    @Test("pending is a table of entries with what each waits for; of one handler the changes of each follow")
    func table() throws {
        let fixture = try Fixture.answering { _ in .json(status: 200, Array(Self.entries.utf8)) }
        let all = try fixture.tool("pending")
        let table = """
            HANDLER  SOURCE  ID      STATE    DUE                        DEADLINE                   \
            WAITS FOR (SINCE)                  NEXT CHANCE
            hr       job     backup  waiting  2026-11-21 07:00:00+00:00  2026-11-21 19:00:00+00:00  \
            power (2026-11-21 07:12:30+00:00)  2026-11-21 19:00:00+00:00

            """
        #expect(all.exit == 0 && all.output == table, "\(all)")
        let history = "\njob backup:\n  2026-11-21 07:00:00+00:00  submitted\n"
        #expect(try fixture.tool("pending", "hr").output == table + history)
        #expect(try fixture.tool("pending", "--json").output == Self.entries)
    }

    @Test("run-job says where the job stands then")
    func runJob() throws {
        let fixture = try Fixture.answering { _ in
            .json(status: 200, Array(#"{"done":true,"entry":{"source":"job","id":"backup","state":"queued"}}"#.utf8))
        }
        #expect(try fixture.tool("run-job", "hr", "backup").output == "job backup is on its way to the handler\n")
    }

    @Test("cancel-job says what is left of the job: nothing, its next time, or a run that is to end")
    func cancelJob() throws {
        let left = [
            ("null", "job backup is cancelled\n"),
            (#"{"source":"job","id":"backup","state":"running"}"#, "job backup is asked to end\n"),
            (
                #"{"source":"job","id":"backup","state":"waiting","waits":[{"for":"time"}]}"#,
                "job backup is cancelled; job backup comes due at a time that is not known yet\n"
            ),
        ]
        for (entry, sentence) in left {
            let fixture = try Fixture.answering { _ in
                .json(status: 200, Array("{\"done\":true,\"entry\":\(entry)}".utf8))
            }
            #expect(try fixture.tool("cancel-job", "hr", "backup").output == sentence)
        }
    }

    @Test("an alert that cannot be sent names the server and not the topic, and an empty one is refused")
    func alert() throws {
        let send = { (words: String) in
            try Child(["sh", "-c", "\(words) \"$0\" send-alert http://127.0.0.1:1/secret", Built.tool]).finish()
        }
        let lost = try send("echo hello |")
        #expect(lost.exit == 1 && lost.talk.contains("cannot send the text to 127.0.0.1:1: "), "\(lost)")
        #expect(!lost.talk.contains("secret"))
        let empty = try send("</dev/null")
        #expect(empty.exit == 2 && empty.talk.contains("there is no text on standard input"), "\(empty)")
    }
}
