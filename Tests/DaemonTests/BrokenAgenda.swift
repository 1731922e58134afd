// What people and programs get wrong about alarms, polls, jobs and gates, each with the words that must come back.

/// A manifest that is whole but for what it schedules.
private func scheduling(_ agenda: String) -> String { "{ exec: [\"/bin/cat\"], user: \"\(me)\", \(agenda) }" }
private func alarm(_ alarm: String, _ words: String) -> BrokenFile {
    BrokenFile(scheduling("alarms: [{ \(alarm) }]"), words)
}
private func job(_ job: String, _ words: String) -> BrokenFile { BrokenFile(scheduling("jobs: [{ \(job) }]"), words) }
private func poll(_ poll: String, _ words: String) -> BrokenFile { BrokenFile(scheduling("poll: \(poll)"), words) }
private func gate(_ gates: String, _ words: String) -> BrokenFile {
    BrokenFile(scheduling("alarms: [], after: \(gates)"), words)
}

let brokenSchedules: [BrokenFile] = [
    BrokenFile(scheduling("alarms: {}"), "\"alarms\" must be a list"),
    BrokenFile(scheduling("alarms: [7]"), "An alarm must be an object; got 7"),
    alarm("daily: [\"07:30\"]", "\"id\" of an alarm must be an id; got null"),
    alarm("id: \"Tea Time\", every: \"1h\"", "must be an id; got \"Tea Time\""),
    alarm("id: \"\(String(repeating: "x", count: 65))\", every: \"1h\"", "the limit is 64 bytes"),
    alarm("id: \"a\"", "Alarm \"a\" says no time"),
    alarm("id: \"a\", every: \"1h\", daily: [\"07:30\"]", "has both \"daily\" and \"every\""),
    alarm("id: \"a\", evry: \"1h\"", "\"evry\" is no key of an alarm; the nearest is \"every\""),
    alarm("id: \"a\", every: \"59s\"", "\"every\" of alarm \"a\" must be a span from 1m"),
    alarm("id: \"a\", every: 60", "\"every\" of alarm \"a\" must be a span"),
    alarm("id: \"a\", every_s: \"60\"", "\"every_s\" of alarm \"a\" must be a number of seconds"),
    alarm("id: \"a\", every: \"1h\", every_s: 3600", "has both \"every\" and \"every_s\""),
    alarm("id: \"a\", every: \"1h\", phase: \"2h\"", "\"phase\" of alarm \"a\" must be a span from 0s to 1h"),
    alarm("id: \"a\", every: \"1h\", zone: \"UTC\"", "has \"zone\" beside \"every\""),
    alarm("id: \"a\", in: \"1h\"", "a manifest declares only alarms that repeat"),
    alarm("id: \"a\", at: \"2026-11-22T07:00:00Z\"", "a manifest declares only alarms that repeat"),
    alarm("id: \"a\", daily: \"07:30\"", "\"daily\" of alarm \"a\" must be a list of times"),
    alarm("id: \"a\", daily: []", "\"daily\" of alarm \"a\" must be a list of times"),
    alarm("id: \"a\", daily: [\"7:30\"]", "must be times from 00:00 to 23:59:59; got \"7:30\""),
    alarm("id: \"a\", daily: [\"24:00\"]", "must be times from 00:00 to 23:59:59; got \"24:00\""),
    alarm("id: \"a\", daily: [\"07:60\"]", "must be times from 00:00 to 23:59:59; got \"07:60\""),
    alarm("id: \"a\", daily: [\"07:30\"], days: [\"monday\"]", "\"days\" of alarm \"a\" knows no \"monday\""),
    alarm("id: \"a\", daily: [\"07:30\"], days: []", "\"days\" of alarm \"a\" must be a list of days"),
    alarm(
        "id: \"a\", daily: [\"07:30\"], zone: \"../etc/passwd\"",
        "\"zone\" of alarm \"a\" must be the name of a time zone"),
    alarm("id: \"a\", daily: [\"07:30\"], zone: 1", "\"zone\" of alarm \"a\" must be the name of a time zone"),
    alarm("id: \"a\", every: \"1h\", catch_up: \"twice\"", "\"catch_up\" of alarm \"a\" knows no \"twice\""),
    alarm("id: \"a\", every: \"1h\", leeway: \"2d\"", "\"leeway\" of alarm \"a\" must be a span from 0s to 1d"),
    alarm("id: \"a\", every: \"1h\", wakes_machine: 1", "\"wakes_machine\" of alarm \"a\" must be true or false"),
    alarm("id: \"a\", every: \"1h\", alert: \"\"", "\"alert\" of alarm \"a\" must be a text in one line"),
    alarm("id: \"a\", every: \"1h\", data: \"\(String(repeating: "x", count: 4_096))\"", "the limit is 4096 bytes"),
    BrokenFile(
        scheduling("alarms: [{ id: \"a\", every: \"1h\" }, { id: \"a\", every: \"2h\" }]"),
        "Two alarms have the id \"a\""),
    BrokenFile(
        scheduling("alarms: [\((0..<129).map { "{ id: \"a\($0)\", every: \"1h\" }" }.joined(separator: ","))]"),
        "The handler has 128 alarms, which is the limit"),
    poll("true", "\"poll\" must be an object; got true"),
    poll("{ min_interval: \"30s\" }", "\"min_interval\" of \"poll\" must be a time from 1m"),
    poll("{ min_interval: 900 }", "\"min_interval\" of \"poll\" must be a duration in quotes"),
    poll("{ min_intervall: \"15m\" }", "the nearest is \"min_interval\""),
    poll("{ min_interval: \"2h\", max_interval: \"1h\" }", "\"min_interval\" greater than its \"max_interval\""),
    poll("{ min_interval: \"15m\", adapt: \"yes\" }", "\"adapt\" of \"poll\" must be true or false"),
    poll("{ min_interval: \"15m\", require: [\"wifi\"] }", "\"wifi\" is no condition"),
    BrokenFile(scheduling("jobs: { id: \"a\" }"), "\"jobs\" must be a list of jobs"),
    job("kind: \"refresh\"", "a job lacks \"id\""),
    job("id: \"a\"", "The job \"a\" lacks \"kind\""),
    job("id: \"a\", kind: \"procesing\"", "\"kind\" of a job knows no \"procesing\"; the nearest is \"processing\""),
    job("id: \"a\", kind: \"processing\", every: \"10s\"", "\"every\" of a job must be a time from 1m"),
    job("id: \"a\", kind: \"continued\", every: \"1h\"", "is continued, which a person begins, and has \"every\""),
    job("id: \"a\", kind: \"refresh\", max_run: \"1m\"", "is a refresh, which has 30 s, and has \"max_run\""),
    job("id: \"a\", kind: \"processing\", max_run: \"7h\"", "\"max_run\" of a job must be a time from 1s to 6h"),
    job("id: \"a\", kind: \"processing\", require: \"power\"", "\"require\" of a job must be a list of conditions"),
    job("id: \"a\", kind: \"processing\", require: [\"powr\"]", "\"powr\" is no condition; the nearest is \"power\""),
    job("id: \"a\", kind: \"processing\", on_deadline: \"wait\"", "\"on_deadline\" of a job knows no \"wait\""),
    BrokenFile(
        scheduling("jobs: [{ id: \"a\", kind: \"refresh\" }, { id: \"a\", kind: \"refresh\" }]"),
        "The job \"a\" is twice in \"jobs\""),
    BrokenFile(
        scheduling(
            "jobs: [{ id: \"a\", kind: \"refresh\", every: \"1h\" }, { id: \"b\", kind: \"refresh\", every: \"1h\" }]"),
        "schedules 2 refresh jobs; the limit is 1"),
    gate("\"time-synced\"", "\"after\" must be a list of conditions"),
    gate("[7]", "\"after\" must be a list of words; got 7"),
    gate("[\"mount:data\"]", "\"mount:data\" names no absolute path"),
    gate("[\"mount:/srv/../etc\"]", "names no absolute path without \"..\""),
    gate("[\"unlock:/srv\"]", "\"unlock:/srv\" is no condition; the nearest is \"unlocked:\""),
    gate("[\((0..<17).map { "\"mount:/\($0)\"" }.joined(separator: ","))]", "lists 17 conditions; the limit is 16"),
]

private func broken(_ line: String, _ code: String, _ words: String) -> BrokenReply { BrokenReply(line, code, words) }

/// Of a handler whose manifest permits alarms, has a poll of at most an hour, and declares the job `backup`; `SEQ` is an alarm
/// that it has open.
let brokenOrders: [BrokenReply] = [
    broken("{\"alarm\":\"tea\"}", "malformed", "An alarm must be an object"),
    broken("{\"alarm\":{\"in_s\":240}}", "malformed", "\"id\" of an alarm must be an id"),
    broken("{\"alarm\":{\"id\":\"tea\"}}", "malformed", "says no time"),
    broken(
        "{\"alarm\":{\"id\":\"tea\",\"in_s\":0}}", "malformed", "\"in_s\" of alarm \"tea\" must be a number of seconds"),
    broken(
        "{\"alarm\":{\"id\":\"tea\",\"in_s\":-1}}", "malformed", "\"in_s\" of alarm \"tea\" must be a number of seconds"
    ),
    broken(
        "{\"alarm\":{\"id\":\"tea\",\"in_s\":1e300}}", "malformed",
        "\"in_s\" of alarm \"tea\" must be a number of seconds"),
    broken(
        "{\"alarm\":{\"id\":\"tea\",\"in_s\":\"240\"}}", "malformed",
        "\"in_s\" of alarm \"tea\" must be a number of seconds"),
    broken("{\"alarm\":{\"id\":\"tea\",\"in\":\"4\"}}", "malformed", "\"in\" of alarm \"tea\" must be a span"),
    broken("{\"alarm\":{\"id\":\"tea\",\"in_sec\":240}}", "unknown-key", "\"in_sec\" is no key of an alarm"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"tomorrow\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"2026-11-22\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"2026-11-22T07:00:00\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"2026-02-30T07:00:00Z\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"2026-13-01T07:00:00Z\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":\"2026-11-22T25:00:00Z\"}}", "malformed", "an instant with its offset"),
    broken("{\"alarm\":{\"id\":\"x\",\"at\":1764000000}}", "malformed", "an instant with its offset"),
    broken(
        "{\"alarm\":{\"id\":\"x\",\"daily\":[\"07:30\"],\"zone\":\"Europe/Berlim\"}}", "unavailable", "no time zone"),
    broken("{\"alarm\":{\"id\":\"x\",\"daily\":[\"07:30\"],\"days\":[\"mo\"]}}", "unknown-token", "knows no \"mo\""),
    broken(
        "{\"alarm\":{\"id\":\"x\",\"every_s\":59}}", "malformed",
        "\"every_s\" of alarm \"x\" must be a number of seconds"),
    broken("{\"alarm\":{\"id\":\"fixed\",\"in_s\":5}}", "conflict", "the manifest declares an alarm of that id"),
    broken("{\"cancel\":\"tea\"}", "malformed", "\"cancel\" must be an object"),
    broken("{\"cancel\":{}}", "malformed", "\"cancel\" names nothing"),
    broken("{\"cancel\":{\"alarm\":\"tea\",\"job\":\"backup\"}}", "malformed", "it takes one of"),
    broken("{\"cancel\":{\"alrm\":\"tea\"}}", "unknown-key", "the nearest is \"alarm\""),
    broken("{\"cancel\":{\"alarm\":\"tea\"}}", "not-registered", "has no such alarm"),
    broken("{\"cancel\":{\"alarm\":\"fixed\"}}", "not-permitted", "the manifest declares that alarm"),
    broken("{\"cancel\":{\"alarms\":1}}", "malformed", "\"alarms\" of \"cancel\" must be true"),
    broken("{\"cancel\":{\"job\":\"bakcup\"}}", "not-registered", "declares no such job; the nearest is \"backup\""),
    broken("{\"pending\":1}", "malformed", "\"pending\" must be true"),
    broken("{\"poll\":\"often\"}", "unknown-token", "\"poll\" knows no \"often\""),
    broken("{\"poll\":{}}", "malformed", "\"poll\" lacks \"min_interval_s\""),
    broken("{\"poll\":{\"min_interval_s\":10}}", "malformed", "\"min_interval_s\" of \"poll\" must be a time from 1m"),
    broken("{\"poll\":{\"min_interval_s\":7200}}", "conflict", "the manifest's \"max_interval\" is 1h"),
    broken("{\"register\":7}", "malformed", "\"register\" of an order must be a name"),
    broken("{\"register\":\"restore\"}", "not-registered", "declares no such job"),
    broken("{\"submit\":\"backup\"}", "malformed", "\"submit\" must be an object"),
    broken("{\"submit\":{}}", "malformed", "\"submit\" lacks \"job\""),
    broken("{\"submit\":{\"job\":\"restore\"}}", "not-registered", "declares no such job"),
    broken("{\"submit\":{\"job\":\"backup\",\"notbefore_s\":1}}", "unknown-key", "the nearest is \"not_before_s\""),
    broken(
        "{\"submit\":{\"job\":\"backup\",\"not_before_s\":-1}}", "malformed", "\"not_before_s\" of \"submit\" must be"),
    broken(
        "{\"submit\":{\"job\":\"backup\",\"not_before_s\":60,\"deadline_s\":60}}", "conflict",
        "its deadline at or before its earliest begin"),
    broken(
        "{\"submit\":{\"job\":\"backup\",\"require\":[\"sunshine\"]}}", "unknown-token", "\"sunshine\" is no condition"),
    broken("{\"submit\":{\"job\":\"backup\",\"strategy\":\"hope\"}}", "unknown-token", "knows no \"hope\""),
    broken(
        "{\"submit\":{\"job\":\"backup\",\"strategy\":\"fail\",\"not_before_s\":5}}", "conflict", "is not to start now"),
    broken("{\"progress\":SEQ,\"done\":1}", "not-permitted", "is no long job"),
    broken("{\"progress\":999999,\"done\":1}", "not-delivered", "999999"),
    broken("{\"progress\":SEQ}", "malformed", "\"done\" must be a whole number from 0"),
    broken("{\"progress\":SEQ,\"done\":\"half\"}", "malformed", "\"done\" must be a whole number from 0"),
    broken("{\"ack\":SEQ,\"done\":1}", "malformed", "goes with \"progress\" only"),
    broken("{\"nack\":SEQ,\"until\":[]}", "malformed", "\"until\" must be 1 to 16 conditions"),
    broken("{\"nack\":SEQ,\"until\":\"network\"}", "malformed", "\"until\" must be 1 to 16 conditions"),
    broken("{\"nack\":SEQ,\"until\":[\"network\"],\"after_s\":1}", "malformed", "stand beside one \"nack\""),
    broken("{\"nack\":999999,\"until\":[\"network\"]}", "not-delivered", "999999"),
    broken("{\"snooze\":SEQ}", "unknown-key", "\"snooze\" is no key of a reply"),
]
