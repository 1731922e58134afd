// What people and programs get wrong, each with the words that must come back from a running bridge.

struct BrokenFile: Sendable, CustomStringConvertible {
    var text: String
    /// Stands in the sentence that names the fault.
    var words: String
    var description: String { words }

    init(_ text: String, _ words: String) {
        self.text = text
        self.words = words
    }
}

/// A manifest that is whole but for `extra`.
private func but(_ extra: String) -> String { manifest("/nonexistent.py", extra) }
private func watching(_ watch: String) -> String {
    "{ exec: [\"/bin/cat\"], user: \"\(me)\", modes: [\"bluetooth-central\"], watch: [\(watch)] }"
}

let brokenManifests: [BrokenFile] = [
    BrokenFile("", "line 1, column 1: the file is empty"),
    BrokenFile("[]", "the file must be an object"),
    BrokenFile("{ exec: [\"/bin/cat\"", "line 1, column 20: expected ',' or ']', found end of file"),
    BrokenFile("{ exec: [\"/bin/cat], }", "line 1, column 10: a text that starts here has no closing quote"),
    BrokenFile("{ exec: [] /* oops", "a comment that starts here has no */"),
    BrokenFile("{ exec: [], exec: [] }", "key \"exec\" comes twice"),
    BrokenFile("{ lifecycle: resident }", "resident is not a value; a text needs quotes"),
    BrokenFile("{}", "exec is missing"),
    BrokenFile(but("lifecicle: \"oneshot\""), "unknown key \"lifecicle\"; did you mean \"lifecycle\"?"),
    BrokenFile(but("lifecycle: \"oneshott\""), "lifecycle is \"oneshott\"; did you mean \"oneshot\"?"),
    BrokenFile(but("budget: \"ten seconds\""), "budget must be a duration"),
    BrokenFile(but("budget: 10"), "budget must be a duration"),
    BrokenFile(but("max_batch: 0"), "max_batch must be a whole number from 1 to 1024; got 0"),
    BrokenFile(but("max_extension: \"181s\""), "max_extension must be a duration from 0s to 3m"),
    BrokenFile(but("env: { WAKEBRIDGE_FD: \"4\" }"), "env sets WAKEBRIDGE_FD, which the bridge sets itself"),
    BrokenFile(but("cwd: \"data\""), "cwd must be an absolute path; got \"data\""),
    BrokenFile(but("timers: { lingre: \"1s\" }"), "unknown key \"lingre\" in timers; did you mean \"linger\"?"),
    BrokenFile(but("group: \"no-such-group\""), "which this machine does not have"),
    BrokenFile(
        "{ exec: [\"/bin/cat\"], user: \"no-such-user\", modes: [], watch: [] }", "user is \"no-such-user\""),
    BrokenFile(
        "{ exec: [\"cat\"], user: \"\(me)\", modes: [], watch: [] }", "exec[0] must be an absolute path"),
    BrokenFile("{ exec: [], user: \"\(me)\", modes: [], watch: [] }", "exec names no program"),
    BrokenFile(
        "{ exec: [\"/bin/cat\"], user: \"\(me)\", modes: [\"blutooth-central\"], watch: [] }",
        "modes[0] is \"blutooth-central\"; did you mean \"bluetooth-central\"?"),
    BrokenFile(watching("{ profile: \"heart-rate-moniter\" }"), "did you mean \"heart-rate-monitor\"?"),
    BrokenFile(watching("{ profile: \"broken-3\" }"), "watch[0].profile is \"broken-3\", which is no known profile"),
    BrokenFile(watching("{ device: \"strap\" }"), "watch[0].profile is missing"),
    BrokenFile(
        watching("{ profile: \"heart-rate-monitor\", polcy: \"all\" }"),
        "unknown key \"polcy\" in watch[0]; did you mean \"policy\"?"),
    BrokenFile(
        watching("{ profile: \"heart-rate-monitor\", durability: \"tape\" }"),
        "watch[0].durability must be one of"),
    BrokenFile(String(repeating: " ", count: (1 << 20) + 1), "it is larger than 1048576 bytes"),
]

/// A profile that is whole but for its fields.
private func fields(_ fields: String) -> String {
    """
    { name: "NAME", title: "P", mode: "bluetooth-central", match: { services: ["180d"] },
      characteristics: { "2a37": { name: "c", fields: [\(fields)] } } }
    """
}

/// `NAME` stands for the folder's name.
let brokenProfiles: [BrokenFile] = [
    BrokenFile("", "line 1, column 1: the file is empty"),
    BrokenFile("{ name: \"NAME\", tilte: \"P\" }", "unknown key \"tilte\"; did you mean \"title\"?"),
    BrokenFile("{ name: \"NAME\", title: \"P\", mode: \"bluetooth\" }", "mode is \"bluetooth\""),
    BrokenFile(fields("{ name: \"a\", type: \"uint9\" }"), "type is \"uint9\""),
    BrokenFile(fields("{ type: \"uint8\" }"), "fields[0]"),
    BrokenFile(fields("{ name: \"a\", type: \"uint8\" }, { name: \"a\", type: \"uint8\" }"), "fields[1]"),
    BrokenFile(
        fields("{ name: \"a\", type: \"uint8\", if: \"b\" }"), "speaks of \"b\", which is no whole-number field above"),
    BrokenFile(fields("{ name: \"a\", tpye: \"uint8\" }"), "did you mean \"type\"?"),
    BrokenFile("{ name: \"NAME\", title: 7 }", "title must be a text"),
]

private let head =
    "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 alias=\"strap\" service=180d\n"
private func operation(_ line: String) -> String { head + "+0 1 connect\n" + line + "\nend\n" }

let brokenTraces: [BrokenFile] = [
    BrokenFile("hello\n", "line 1, column 1"),
    BrokenFile("wakebridge-trace 2\n", "line 1, column 18"),
    BrokenFile("wakebridge-trace 1\nclock yesterday\n", "line 2, column 7"),
    BrokenFile(head + "device 1 bluetooth C0:F1:F2:F3:F4:02\nend\n", "declared twice"),
    BrokenFile(head + "device 2 bluetoth C0:F1:F2:F3:F4:02\nend\n", "did you mean `bluetooth`?"),
    BrokenFile(head + "+0 1 connect\n", "`end`"),
    BrokenFile(operation("+0 1 dta 2a37 00"), "line 5, column 6: unknown operation `dta`; did you mean `data`?"),
    BrokenFile(operation("+0 2 connect"), "line 5, column 4: device 2 is not declared"),
    BrokenFile(operation("+-1 1 connect"), "line 5, column 2"),
    BrokenFile(operation("+0 1 data 2a37 0g"), "line 5, column 16"),
    BrokenFile(operation("+0 1 data 2a3 00"), "line 5, column 11"),
    BrokenFile(operation("+0 1 disconnect raeson=x"), "did you mean `reason`?"),
    BrokenFile(operation("+0 1 gap link count=-1"), "line 5, column 21"),
    BrokenFile(operation("+999999999999 1 connect"), "over ten years"),
    BrokenFile(operation("+0 1 connect\r"), "carriage return"),
]

struct BrokenReply: Sendable {
    var bytes: [UInt8]
    var code: String
    /// Stands in the sentence.
    var words: String

    init(_ line: String, _ code: String, _ words: String) {
        self.init(Array(line.utf8), code, words)
    }

    init(_ bytes: [UInt8], _ code: String, _ words: String) {
        self.bytes = bytes
        self.code = code
        self.words = words
    }
}

/// `SEQ` stands for the number of the event that the handler has open.
let brokenReplies: [BrokenReply] = [
    BrokenReply("  ", "malformed", "is not JSON, at byte 2"),
    BrokenReply("ack SEQ", "malformed", "ack is not a value"),
    BrokenReply("{\"ack\":SEQ", "malformed", "expected ',' or '}'"),
    BrokenReply("{\"ack\":SEQ}}", "malformed", "after the end of the object"),
    BrokenReply("{\"ack\":SEQ} {\"ack\":SEQ}", "malformed", "after the end of the object"),
    BrokenReply("{ack:SEQ}", "malformed", "expected a key in quotes"),
    BrokenReply("{\"ack\":SEQ,\"ack\":SEQ}", "malformed", "key \"ack\" comes twice"),
    BrokenReply("[SEQ]", "malformed", "must be a JSON object"),
    BrokenReply("{}", "malformed", "holds no verb"),
    BrokenReply("{\"ack\":SEQ,\"nack\":SEQ}", "malformed", "Two verbs in one line"),
    BrokenReply("{\"akc\":SEQ}", "unknown-key", "the nearest is \"ack\""),
    BrokenReply("{\"zebra\":SEQ}", "unknown-key", "\"zebra\" is no key of a reply."),
    BrokenReply("{\"ack\":SEQ,\"reslut\":\"useful\"}", "unknown-key", "the nearest is \"result\""),
    BrokenReply("{\"ack\":SEQ,\"result\":\"usefull\"}", "unknown-token", "the nearest is \"useful\""),
    BrokenReply("{\"ack\":SEQ,\"after_s\":3}", "malformed", "\"after_s\" stands beside \"ack\""),
    BrokenReply("{\"ack\":\"SEQ\"}", "malformed", "\"ack\" must be an event's seq"),
    BrokenReply("{\"ack\":-1}", "malformed", "\"ack\" must be an event's seq"),
    BrokenReply("{\"ack\":1e3}", "malformed", "\"ack\" must be an event's seq"),
    BrokenReply(
        "{\"nack\":SEQ,\"after_s\":-1}", "malformed", "\"after_s\" must be a number of seconds from 0 to 86400"),
    BrokenReply("{\"ready\":1}", "malformed", "\"ready\" must be true"),
    BrokenReply("{\"begin\":\"\"}", "malformed", "\"begin\" must be a task's name"),
    BrokenReply("{\"checkpoint\":7}", "malformed", "\"checkpoint\" must be a text"),
    BrokenReply(
        "{\"checkpoint\":\"\(String(repeating: "x", count: 16_385))\"}", "too-long", "the limit is 16384 bytes"),
    BrokenReply(
        "{\"write\":{\"device\":\"strap\",\"hex\":\"012\"}}", "malformed", "an even number of hexadecimal digits"),
    BrokenReply(
        "{\"read\":{\"device\":\"strap\",\"characteristic\":\"2a3\"}}", "malformed", "must be a Bluetooth UUID"),
    BrokenReply("{\"ack\":SEQ,\"ref\":[1]}", "malformed", "\"ref\" must be"),
    BrokenReply([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d], "malformed", "not JSON"),
    BrokenReply([0, 1, 2, 3], "malformed", "not JSON"),
    BrokenReply(String(repeating: "[", count: 100_000), "malformed", "not JSON"),
    BrokenReply("{\"begin\":\"" + String(repeating: "x", count: 140_000) + "\"}", "too-long", "131072 bytes"),
    BrokenReply("{\"ack\":999999}", "not-delivered", "999999"),
    BrokenReply("{\"nack\":999999}", "not-delivered", "999999"),
    BrokenReply("{\"end\":\"never-begun\"}", "not-open", "never-begun"),
    BrokenReply("{\"read\":{\"device\":\"nobody\",\"characteristic\":\"2a37\"}}", "", ""),
]
