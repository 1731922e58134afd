// The devices of a session: peripherals and accessories, here and at other bridges, and their characteristics.
import Testing

@testable import WakeHandler

@Suite("Devices of a session")
@MainActor
struct DeviceTests {
    private let fed = Fed()

    private func line(_ sequence: Int, _ source: String, _ type: String, _ data: String = "{}") -> String {
        "{\"type\":\"wakebridge.device.\(type)\",\"source\":\"\(source)\",\"subject\":\"it\",\"seq\":\(sequence),\"data\":\(data)}"
    }

    private func kinds(_ lines: String...) async -> [BackgroundEvent.Kind] {
        for line in lines { fed.feed(line) }
        fed.session.endInput()
        var kinds: [BackgroundEvent.Kind] = []
        for await event in fed.session.events { kinds.append(event.kind) }
        return kinds
    }

    @Test("a device over Bluetooth LE is a peripheral and any other an accessory, also those of another bridge")
    func tellsApart() async {
        let strap = Peripheral(name: "it", identifier: "/remote/attic/bluetooth/A", profile: nil)
        let scanner = Accessory(name: "it", identifier: "/remote/attic/accessory/1:2:3", profile: "scanner")
        let kinds = await kinds(
            line(1, strap.identifier, "connected", "{\"folded\":2}"),
            line(2, scanner.identifier, "disconnected", "{\"profile\":\"scanner\",\"reason\":\"unplugged\"}"))
        #expect(
            kinds == [
                .peripheral(strap, .connected(folded: 2)),
                .accessory(scanner, .disconnected(reason: .unplugged, folded: 0)),
            ])
    }

    @Test("data of a peripheral names its characteristic, and data of an accessory its stream")
    func data() async {
        let kinds = await kinds(
            line(1, "/bluetooth/A", "data", "{\"characteristic\":\"2a37\",\"raw\":\"1049\"}"),
            line(2, "/bluetooth/A", "data", "{\"stream\":\"advertisement\",\"raw\":\"02\"}"),
            line(3, "/accessory/1", "data", "{\"stream\":\"serial\",\"raw\":\"24\",\"fragment\":\"cut-short\"}"))
        guard case .peripheral(_, .data(let beat)) = kinds[0], case .peripheral(_, .data(let broadcast)) = kinds[1],
            case .accessory(_, .data(let sentence)) = kinds[2]
        else {
            Issue.record("\(kinds)")
            return
        }
        #expect(beat.characteristic == 0x2a37 && beat.bytes == [0x10, 0x49])
        #expect(broadcast.characteristic == nil && broadcast.bytes == [2])
        #expect(sentence.stream == "serial" && sentence.fragment == .cutShort)
    }

    @Test("a session knows its devices from the start, and follows which of them are connected")
    func follows() {
        let devices = """
            [{"device":"strap","source":"/bluetooth/A","connected":true,"profile":"hr"},\
            {"device":"scanner","source":"/accessory/1","connected":false}]
            """
        fed.feed(notice("restored", "{\"reason\":\"data\",\"devices\":\(devices)}"))
        let session = fed.session
        #expect(session.peripherals.map(\.name) == ["strap"] && session.connectedPeripherals == session.peripherals)
        #expect(session.accessories.map(\.name) == ["scanner"] && session.connectedAccessories == [])
        fed.feed(line(1, "/bluetooth/A", "disconnected"), line(2, "/accessory/1", "connected"))
        #expect(session.peripherals.map(\.name) == ["it"] && session.connectedPeripherals == [])
        #expect(session.connectedAccessories.map(\.identifier) == ["/accessory/1"])
        fed.feed(line(3, "/bluetooth/B", "connected"))
        #expect(session.connectedPeripherals.map(\.identifier) == ["/bluetooth/B"] && session.peripherals.count == 2)
    }

    @Test("a characteristic is written as a number or as text, and is equal however it is written")
    func characteristics() {
        #expect(Characteristic("00002A37-0000-1000-8000-00805F9B34FB") == 0x2a37)
        #expect(Characteristic("nonsense") == nil && Characteristic("2a19#2")?.number == 2)
        let short: Characteristic = 0x2a37
        #expect(short.description == "2a37" && short.number == 1)
        #expect(short.uuidBytes == [0, 0, 0x2a, 0x37, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5f, 0x9b, 0x34, 0xfb])
    }

    @Test(
        "a line of the log begins with its level unless it is an ordinary one, and what matters too little is left out")
    func logs() {
        for level in LogLevel.allCases { fed.session.log("full", level: level) }
        fed.session.logLevel = .debug
        fed.session.log("looked", level: .debug)
        #expect(
            textLines(fed.session.drainLines().log) == ["full", "warning: full", "error: full", "debug: looked"])
    }

    private struct Trip: Codable, Equatable {
        enum Phase: String, Codable { case begun, over }
        var beats: Int
        var mean: Double
        var phase: Phase?
        var laps: [[Int]]
        var names: [String: Bool]
    }

    @Test("a checkpoint of a type of yours comes back as it was, and one of another type is an error")
    func checkpoints() throws {
        let trip = Trip(beats: 7, mean: 61.5, phase: .begun, laps: [[1], []], names: ["a": true])
        try fed.session.checkpoint(trip)
        let text =
            "{\"beats\":7,\"mean\":61.5,\"phase\":\"begun\",\"laps\":[[1],[]],\"names\":{\"a\":true}}"
        let quoted = text.replacing("\"", with: "\\\"")
        #expect(fed.answers == ["{\"checkpoint\":\"\(quoted)\"}"])
        fed.feed(notice("restored", "{\"reason\":\"data\",\"devices\":[],\"checkpoint\":\"\(quoted)\"}"))
        let restoration = try #require(fed.session.restoration)
        #expect(try restoration.checkpoint(as: Trip.self) == trip && restoration.checkpointText == text)
        #expect(throws: DecodingError.self) { try restoration.checkpoint(as: [Int].self) }
        fed.feed(notice("restored", "{\"reason\":\"data\",\"devices\":[],\"checkpoint\":\"plain words\"}"))
        #expect(throws: DecodingError.self) { try fed.session.restoration?.checkpoint(as: Trip.self) }
        #expect(throws: EncodingError.self) { try fed.session.checkpoint(Double.infinity) }
        #expect(fed.answers == [])
    }
}
