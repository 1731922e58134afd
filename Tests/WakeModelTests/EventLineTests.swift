// Event lines and notices, compared byte for byte with the contract.
import Testing

@testable import WakeModel

private let strap = Device(
    uri: "/bluetooth/C0:F1:F2:F3:F4:01", alias: "chest-strap", profile: "heart-rate-monitor", kind: .bluetoothCentral
)
private let morning = WallTime(rfc3339: "2026-11-21T07:42:46.727125Z") ?? WallTime(microseconds: 0)
private let start =
    "{\"specversion\":\"1.0\",\"id\":\"j7-42\",\"source\":\"/bluetooth/C0:F1:F2:F3:F4:01\",\"type\":\"wakebridge.device."
private let middle =
    "\",\"subject\":\"chest-strap\",\"time\":\"2026-11-21T07:42:46.727125Z\",\"datacontenttype\":\"application/json\","
    + "\"authenticated\":false,\"seq\":42,"

private func line(
    _ kind: DeviceEvent.Kind, redelivered: Bool = false, synchronized: Bool = true, budget: TimeSpan = .seconds(10),
    value: String? = nil, undecodable: String? = nil, authenticated: Bool = false
) -> String {
    let stamp = Stamp(
        moment: Moment(monotonic: .zero, boottime: .zero), wall: morning, isClockSynchronized: synchronized)
    let event = DeviceEvent(
        origin: EventOrigin(rawValue: 1), kind: kind, stamp: stamp, isAuthenticated: authenticated)
    var writer = JSONWriter()
    EventLine(
        event, of: DeviceText(of: strap, in: kind.wireName), sequence: Sequence(42), attempt: 1,
        isRedelivered: redelivered,
        budget: budget,
        start: EventLineStart(idPrefix: "j7-"),
        value: value.map { Array($0.utf8) }, undecodable: undecodable
    ).write(into: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite("Event lines")
struct EventLineTests {
    private let heartRate = DeviceEvent.Kind.data(
        .characteristic(BluetoothUUID(short: 0x2a37)), [0x10, 0x49, 0x54, 0x03])

    @Test("decoded data is written exactly as the contract shows it")
    func writesData() {
        #expect(
            line(heartRate, value: "{\"bpm\":73,\"rr_s\":[0.832]}")
                == "\(start)data\(middle)\"attempt\":1,\"budgetms\":10000,\"data\":{\"profile\":\"heart-rate-monitor\","
                + "\"characteristic\":\"2a37\",\"value\":{\"bpm\":73,\"rr_s\":[0.832]},\"raw\":\"10495403\"}}\n")
    }

    @Test("every line about a device says whether a bond proved its identity")
    func writesAuthenticated() {
        let time = WallTime(microseconds: 0)
        let gap = Gap(cause: .link, count: nil, first: nil, last: nil, from: time, to: time)
        let kinds: [DeviceEvent.Kind] = [
            heartRate, .connected(folded: 0), .disconnected(reason: "removed", folded: 0), .gap(gap),
            .attention(.pairing, detail: ""),
        ]
        for kind in kinds {
            #expect(line(kind, authenticated: true).contains("json\",\"authenticated\":true,\"seq\":42,"))
            #expect(line(kind).contains("json\",\"authenticated\":false,\"seq\":42,"))
        }
    }

    @Test("what no profile knows has no value, and what a profile cannot decode says why beside its bytes")
    func writesUndecodable() {
        #expect(line(heartRate).contains("\"characteristic\":\"2a37\",\"raw\":\"10495403\"}}"))
        #expect(
            line(heartRate, undecodable: "too short").contains("\"raw\":\"10495403\",\"undecodable\":\"too short\"}}"))
        #expect(line(.data(.report(2), [1])).contains("\"stream\":\"report-2\",\"raw\":\"01\"}}"))
    }

    @Test("what was broadcast is data of the stream advertisement")
    func writesAdvertisement() {
        let text = line(.data(.advertisement, [2, 1, 6]), value: "{\"temperature_c\":21.5}")
        #expect(text.contains("device.data\""))
        #expect(
            text.hasSuffix(
                "\"data\":{\"profile\":\"heart-rate-monitor\",\"stream\":\"advertisement\","
                    + "\"value\":{\"temperature_c\":21.5},\"raw\":\"020106\"}}\n"))
        #expect(Channel.advertisement.wireName.text == "advertisement")
    }

    @Test("a piece of a serial stream says that it is no message; written apart it is read again")
    func writesFragments() {
        for fragment in Fragment.allCases {
            let channel = Channel.fragment(fragment)
            let text = line(.data(channel, [0x24]), undecodable: fragment.sentence)
            #expect(
                text.contains(
                    "\"stream\":\"serial\",\"raw\":\"24\",\"undecodable\":\"\(fragment.sentence)\","
                        + "\"fragment\":\"\(fragment.rawValue)\"}"))
            #expect(Channel(wireName: channel.wireName.text) == channel)
        }
        #expect(Channel(wireName: "serial-") == nil && Channel(wireName: "serial-cut") == nil)
    }

    @Test("redelivery, a clock that is not set and a spent budget are told")
    func writesCircumstances() {
        let text = line(heartRate, redelivered: true, synchronized: false, budget: .milliseconds(-5))
        #expect(text.contains("\"attempt\":1,\"redelivered\":true,\"budgetms\":0,\"data\""))
        #expect(text.hasSuffix("\"raw\":\"10495403\",\"clock_synced\":false}}\n"))
    }

    @Test("links are told with their reason and what was folded")
    func writesLinks() {
        #expect(line(.connected(folded: 0)).hasSuffix("\"data\":{\"profile\":\"heart-rate-monitor\"}}\n"))
        #expect(
            line(.disconnected(reason: "remote-user", folded: 3)).hasSuffix(
                "\"data\":{\"profile\":\"heart-rate-monitor\",\"reason\":\"remote-user\",\"folded\":3}}\n"))
    }

    @Test("a gap names its device, its cause, and what is known of its size")
    func writesGaps() {
        let known = Gap(
            cause: .overflow, count: 3, first: Sequence(4), last: Sequence(9), from: morning, to: morning + .seconds(1))
        #expect(
            line(.gap(known)).hasSuffix(
                "\"data\":{\"device\":\"chest-strap\",\"cause\":\"overflow\",\"count\":3,\"first_seq\":4,\"last_seq\":9,"
                    + "\"from\":\"2026-11-21T07:42:46.727125Z\",\"to\":\"2026-11-21T07:42:47.727125Z\"}}\n"))
        let unknown = Gap(cause: .link, count: nil, first: nil, last: nil, from: morning, to: morning)
        #expect(line(.gap(unknown)).contains("\"cause\":\"link\",\"count\":null,\"from\":"))
    }

    @Test("attention is told by its kind")
    func writesAttention() {
        #expect(line(.attention(.bondInvalid, detail: "")).hasSuffix("\"data\":{\"kind\":\"bond-invalid\"}}\n"))
        #expect(line(.attention(.pairing, detail: "type \"1\"")).hasSuffix("\"detail\":\"type \\\"1\\\"\"}}\n"))
    }

    @Test("every line reads back as JSON")
    func readsBack() throws {
        _ = try JSONValue(parsing: line(heartRate, value: "1").utf8)
        #expect(line(.attention(.storm, detail: "a\nb")).filter { $0 == "\n" }.count == 1)
    }
}

@Suite("Notices")
struct NoticeTests {
    private func data(_ notice: Notice) throws -> String {
        var writer = JSONWriter()
        notice.write(into: &writer, idPrefix: "j7-n", number: 3, time: morning)
        let value = try JSONValue(parsing: writer.bytes.dropLast())
        #expect(value["type"]?.string == notice.type)
        #expect(value["source"]?.string == "/wakebridge")
        #expect(value["seq"] == nil && value["attempt"] == nil)
        return try #require(value["data"]).text
    }

    @Test("notices carry what the contract names")
    func writesNotices() throws {
        let open = [Sequence(4), Sequence(5)]
        #expect(
            try data(.resumed(frozenFor: .milliseconds(90), reason: "event", open: open))
                == "{\"frozen_for_ms\":90,\"reason\":\"event\",\"open\":[4,5]}")
        #expect(
            try data(.expiring(reason: "budget", remaining: .seconds(2), tasks: ["up"], open: []))
                == "{\"reason\":\"budget\",\"remaining_ms\":2000,\"tasks\":[\"up\"],\"open\":[]}")
        #expect(
            try data(.remaining(.seconds(3), extensionLeft: .seconds(30), reference: Reference(text: "1.0")))
                == "{\"remaining_ms\":3000,\"extension_ms\":30000,\"ref\":1}")
        #expect(
            try data(.reply(.read(device: "a", bytes: [1]), reference: nil)) == "{\"device\":\"a\",\"hex\":\"01\"}")
        #expect(
            try data(.terminating(reason: "stop", within: .seconds(5))) == "{\"reason\":\"stop\",\"in_ms\":5000}")
        #expect(try data(.memory(level: "some")) == "{\"level\":\"some\"}")
        #expect(try data(.time(step: .milliseconds(-7))) == "{\"step_ms\":-7}")
        #expect(try data(.bridge(condition: "adapter-down", detail: "")) == "{\"condition\":\"adapter-down\"}")
    }

    @Test("an error says its code, what was wrong and what to do, with the ref")
    func writesErrors() throws {
        var fault = ProtocolFault.notOpen(task: "up")
        fault.reference = Reference(8)
        #expect(
            try data(.error(fault))
                == "{\"code\":\"not-open\",\"sentence\":\"end \\\"up\\\": no task of that name is open.\","
                + "\"advice\":\"End each task once, by the name it was begun with.\",\"ref\":8}")
    }

    @Test("a launch is told its devices, subscriptions, counters and checkpoint")
    func writesRestoration() throws {
        var restoration = Restoration(reason: "event")
        restoration.links = [Restoration.Link(device: strap, isConnected: true)]
        restoration.subscriptions = [
            Restoration.Subscription(
                profile: "heart-rate-monitor", device: nil, wakes: true, policy: "all", durability: "run")
        ]
        restoration.checkpoint = "x"
        #expect(
            try data(.restored(restoration))
                == "{\"reason\":\"event\",\"devices\":[{\"device\":\"chest-strap\",\"source\":\"/bluetooth/C0:F1:F2:F3:F4:01\","
                + "\"profile\":\"heart-rate-monitor\",\"mode\":\"bluetooth-central\",\"connected\":true}],"
                + "\"subscriptions\":[{\"profile\":\"heart-rate-monitor\",\"wake\":true,\"policy\":\"all\",\"durability\":\"run\"}],"
                + "\"counters\":{\"launches\":0,\"acknowledged\":0,\"useful\":0,\"nothing\":0,\"failed\":0,\"queued\":0,"
                + "\"dead_letters\":0},\"checkpoint\":\"x\"}"
        )
    }
}
