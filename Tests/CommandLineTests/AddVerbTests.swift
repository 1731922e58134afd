// add: names sensors that only broadcast, with a daemon of the test's own and a scripted bluetoothd.
import TestBench
import Testing
import WakeControl
import WakeModel

@Suite("Adding sensors that broadcast") struct AddVerbTests {
    /// A RuuviTag in data format 5, with the temperature in hundredths.
    private static func tag(_ address: String, _ temperature: String) -> String {
        let rest = "ffffffffffffffffffffffffffffff"
        return
            #"{"address": "\#(address)", "type": "public", "company": 1177, "maker": "05\#(temperature)\#(rest)FFFFFFFFFFFF"}"#
    }

    private static let world = """
        {"devices": [\(tag("A4:C1:38:00:00:01", "0fa0")), \(tag("A4:C1:38:00:00:02", "1068")),
         {"address": "C0:DE:00:00:00:10", "name": "Lab Strap", "uuids": ["180d"]}]}
        """

    /// The bodies of the orders to name a device.
    private final class Orders { var bodies: [String] = [] }

    private func daemon(_ orders: Orders, taken: String = "", devices: String = "[]") throws -> Fixture {
        try Fixture { request in
            guard request.path.last == "name" else {
                return .json(status: 200, Array("{\"devices\":\(devices)}".utf8))
            }
            let body = String(decoding: request.body, as: UTF8.self)
            guard taken.isEmpty || !body.contains(taken) else {
                return .json(
                    status: 409,
                    Array(#"{"error":{"code":"taken","message":"'\#(taken)' is another device","advice":""}}"#.utf8))
            }
            orders.bodies.append(body)
            return .json(status: 200, Array("{}".utf8))
        }
    }

    @Test("several sensors are named at once, each by one order to the daemon, without any Bluetooth here")
    func several() throws {
        let orders = Orders()
        let fixture = try daemon(orders)
        let added = try fixture.tool("add", "a4:c1:38:00:00:01=cellar", "A4:C1:38:00:00:02=living room")
        #expect(added.exit == 0, "\(added)")
        #expect(
            added.output == """
                cellar (A4:C1:38:00:00:01) is named, and received from now on
                living room (A4:C1:38:00:00:02) is named, and received from now on

                """)
        #expect(
            orders.bodies == [
                #"{"device":"/bluetooth/A4:C1:38:00:00:01","name":"cellar"}"#,
                #"{"device":"/bluetooth/A4:C1:38:00:00:02","name":"living room"}"#,
            ])
        let json = try fixture.tool("add", "--json", "A4:C1:38:00:00:01=cellar")
        #expect(
            json.output
                == #"{"named":[{"alias":"cellar","address":"A4:C1:38:00:00:01","source":"/bluetooth/A4:C1:38:00:00:01"}]}"#
                + "\n")
    }

    @Test("of words with a fault in one of them no sensor is named, and the sentence shows how to write it")
    func faults() throws {
        let orders = Orders()
        let fixture = try daemon(orders)
        for (word, sentence) in [
            ("cellar", "'cellar' is not ADDRESS=NAME, such as A4:C1:38:00:11:22=cellar"),
            ("A4:C1=cellar", "'A4:C1=cellar' is not ADDRESS=NAME"),
            ("A4:C1:38:00:00:02=/b", "'/b' cannot be a name"),
            ("A4:C1:38:00:00:02=attic", "'A4:C1:38:00:00:02=attic' and A4:C1:38:00:00:01=attic exclude each other"),
            ("--for=3s", "--for goes with the list only"),
        ] {
            let refused = try fixture.tool("add", "A4:C1:38:00:00:01=attic", word)
            #expect(refused.exit == 2 && refused.talk.contains(sentence), "\(refused)")
        }
        #expect(orders.bodies.isEmpty)
    }

    @Test("without words the sensors near by that only broadcast are listed with their values, and how to name them")
    func list() async throws {
        let bluetooth = try ScriptedBluetooth(Self.world)
        let listed = try await bluetooth.tool("add", "--for", "1s")
        #expect(listed.exit == 0, "\(listed)")
        let rows = listed.output.split(separator: "\n")
        #expect(rows.count == 3 && rows[1].contains("A4:C1:38:00:00:01") && rows[2].contains("A4:C1:38:00:00:02"))
        #expect(rows[1].contains("ruuvitag") && rows[1].contains("temperature_c 20"), "\(listed.output)")
        #expect(listed.talk == "name them: wakebridge add A4:C1:38:00:00:01=NAME …\n")
        let json = try await bluetooth.tool("add", "--for", "1s", "--json")
        let sensors = try JSONValue(parsing: Array(json.output.utf8))["sensors"]?.array ?? []
        #expect(sensors.map { $0["profile"]?.string } == ["ruuvitag", "ruuvitag"], "\(json)")
        #expect(sensors.last?["value"]?["temperature_c"]?.number == 21)
    }

    /// As many words as the page shows: an ellipsis stands for what it leaves out.
    private func shows(_ page: Document.Block, _ printed: String) -> Bool {
        let rows = printed.split(separator: "\n").map { $0.split(separator: " ") }
        return page.lines.filter { $0 != "…" }.allSatisfy { line in
            let words = line.split(separator: " ")
            let shown = words.last == "…" ? words.dropLast() : words[...]
            return rows.contains {
                $0.prefix(shown.count) == shown && (words.count > shown.count || $0.count == shown.count)
            }
        }
    }

    @Test("a reader of the tutorial about thermometers sees at the commands that list and name them what it shows")
    func tutorial() async throws {
        let page = try Document("docs/tutorials/twelve-thermometers-in-home-assistant.md")
        let thermometers = [("22", "00d7295a0b3407", -58), ("23", "00554d550b3407", -71)].map { end, said, signal in
            let address = "A4:C1:38:00:11:\(end)"
            let bytes = address.filter { $0 != ":" } + said
            return
                #"{"address": "\#(address)", "type": "public", "signal": \#(signal), "service_data": {"181a": "\#(bytes)"}}"#
        }
        let bluetooth = try ScriptedBluetooth("{\"devices\": [\(thermometers.joined(separator: ", "))]}")
        let list = try #require(page.block("sh", with: "wakebridge add --for"))
        let words = list.text.replacing("sudo wakebridge ", with: "").replacing("20s", with: "1s").split(separator: " ")
        let listed = try await bluetooth.tool(words.map(String.init))
        #expect(shows(try #require(page.block("text", with: "SIGNAL")), listed.output), "\(listed)")
        let orders = Orders()
        let fixture = try daemon(orders)
        let name = try #require(page.block("sh", with: "=cellar"))
        let command = name.text.replacing("sudo wakebridge", with: "'\(Built.tool)' --socket '\(fixture.path)'")
        let named = try fixture.run(["sh", "-c", command])
        #expect(named.exit == 0 && orders.bodies.count == 12, "\(named)")
        #expect(shows(try #require(page.block("text", with: "is named")), named.output), "\(named)")
    }

    @Test("where nothing broadcasts, the list says so and where to look")
    func nothing() async throws {
        let bluetooth = try ScriptedBluetooth("{}")
        let listed = try await bluetooth.tool("add", "--for", "300ms")
        #expect(listed.exit == 0 && listed.output.isEmpty && listed.talk.contains("see 'wakebridge scan --all'"))
    }

    @Test("on a terminal a name is asked for each that has none, again where it is refused, and Enter leaves one out")
    func terminal() throws {
        let orders = Orders()
        let known = #"[{"alias":"attic","source":"/bluetooth/A4:C1:38:00:00:03","profile":"ruuvitag"}]"#
        let fixture = try daemon(orders, taken: "strap", devices: known)
        let world = Self.world.replacing(
            "\"devices\": [", with: "\"devices\": [\(Self.tag("A4:C1:38:00:00:03", "0fa0")), ")
        let bluetooth = try ScriptedBluetooth(world)
        let answers = [("00:01 ", "strap\\n"), ("00:01 ", "cellar\\n"), ("00:02 ", "\\n")]
        let command = bluetooth.command(answers, ["add", "--for", "1s", "--socket", fixture.path])
        let seen = try fixture.run(command)
        #expect(seen.exit == 0, "\(seen)")
        #expect(seen.output.contains("'strap' is another device") && seen.output.contains("attic"), "\(seen.output)")
        #expect(orders.bodies == [#"{"device":"/bluetooth/A4:C1:38:00:00:01","name":"cellar"}"#])
    }
}
