// The handler as a peripheral in the Swift library, and the examples that hand a heart rate on.
import Glibc
import TestBench
import Testing
import WakeHandler
import WakeHandlerTesting

private let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(
    separator: "/")

/// A line about a central.
private func central(_ sequence: Int, _ type: String, _ more: String = "", uuid: String = "2a39") -> String {
    "{\"specversion\":\"1.0\",\"id\":\"j1-\(sequence)\",\"source\":\"/peripheral/hr\",\"type\":\"wakebridge.peripheral.\(type)\","
        + "\"subject\":\"peripheral\",\"time\":\"2026-11-21T07:42:46.727125Z\",\"authenticated\":true,\"seq\":\(sequence),"
        + "\"attempt\":1,\"budgetms\":10000,\"data\":{\"service\":\"180d\",\"characteristic\":\"\(uuid)\","
        + "\"central\":\"C0:00:00:00:00:01\",\"bonded\":true\(more)}}"
}

@MainActor
private final class Server: LocalPeripheralDelegate {
    var told: [String] = []

    func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {
        let state = restoration.localPeripheral
        told.append("restored \(state?.isRegistered ?? false) \(state?.subscriptions.map(\.central) ?? [])")
    }
    func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveWrite bytes: [UInt8], to characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult {
        told.append("written \(bytes) \(characteristic) \(event.central.isBonded)")
        peripheral.updateValue(bytes, for: 0x2a37)
        peripheral.updateValue([7], for: 0x2a37, onSubscribedCentrals: [event.central])
        return .useful
    }
    func localPeripheral(
        _ peripheral: LocalPeripheral, didReceiveRead request: CentralReadRequest, of characteristic: Characteristic,
        for event: CentralEvent
    ) -> WorkResult {
        told.append("read \(characteristic) \(request.remaining)")
        if characteristic == 0x2a38 {
            peripheral.respond(to: request, with: [1, 2])
        } else {
            peripheral.refuse(request)
        }
        return .useful
    }
    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didSubscribeTo characteristic: Characteristic
    ) -> WorkResult {
        told.append("subscribed \(central.identifier)")
        return .useful
    }
    func localPeripheral(
        _ peripheral: LocalPeripheral, central: Central, didUnsubscribeFrom characteristic: Characteristic
    ) -> WorkResult {
        told.append("unsubscribed \(characteristic)")
        return .nothing
    }
}

@Suite("The handler as a peripheral")
@MainActor
struct LocalPeripheralTests {
    private let directory = temporaryDirectory()

    @Test(
        "each deed of a central comes as a callback, and what that serves goes to the daemon as CoreBluetooth's calls would"
    )
    func callbacks() {
        let restored =
            "{\"reason\":\"peripheral\",\"devices\":[],\"peripheral\":{\"registered\":true,\"advertising\":true,"
            + "\"subscribers\":[{\"characteristic\":\"2a37\",\"central\":\"C0:00:00:00:00:01\"}]}}"
        let server = Server()
        let lines = [
            notice("restored", restored), central(2, "subscribed", ",\"mtu\":185", uuid: "2a37"),
            central(3, "written", ",\"hex\":\"0102\",\"with_response\":true"),
            central(4, "read", ",\"request\":42,\"within_ms\":4500", uuid: "2a38"),
            central(5, "read", ",\"request\":43,\"within_ms\":4500"),
            central(6, "unsubscribed", ",\"reason\":\"lost\"", uuid: "2a37"),
        ]
        let answers = replies(of: server, to: lines)
        #expect(
            server.told == [
                "restored true [\"C0:00:00:00:00:01\"]", "subscribed C0:00:00:00:00:01", "written [1, 2] 2a39 true",
                "read 2a38 4.5 seconds", "read 2a39 4.5 seconds", "unsubscribed 2a37",
            ])
        let orders = answers.filter { $0.contains("serve") }
        #expect(
            orders == [
                #"{"serve":{"characteristic":"2a37","hex":"0102"}}"#,
                #"{"serve":{"characteristic":"2a37","hex":"07","centrals":["C0:00:00:00:00:01"]}}"#,
                #"{"serve":{"request":42,"hex":"0102"}}"#, #"{"serve":{"request":43,"refuse":128}}"#,
            ])
    }

    @Test("the page on peripherals shows the example as it is")
    func page() throws {
        let page = try Document("docs/how-to/be-a-peripheral.md").text
        for name in ["relay-heart-rate.sh", "relay-heart-rate.json5"] {
            let example = try Document("Examples/handlers/\(name)").text
            #expect(page.contains(example), "\(name)")
        }
    }

    @Test("a recording plays what centrals do")
    func recording() async throws {
        let recording = Recording(occasions: [
            .subscription(to: 0x2a37), .write([1, 2], to: 0x2a39), .read(of: 0x2a38, request: 9),
            .unsubscription(from: 0x2a37),
        ])
        var deeds: [CentralEvent.Kind] = []
        _ = try await recording.play { session in
            for await event in session.events {
                if case .central(let deed) = event.kind { deeds.append(deed.kind) }
                session.finish(event, .useful)
            }
        }
        #expect(deeds.count == 4 && deeds[0] == .subscribed(maximumUpdateValueLength: 182))
        #expect(deeds[1] == .written([1, 2], offset: 0) && deeds[3] == .unsubscribed(.central))
    }

    @Test(
        "the relays in shell and in Swift hand each beat on as the strap sent it, and nothing else", arguments: [0, 1])
    func relays(which: Int) {
        let words = [
            ["/bin/sh", "\(package)/Examples/handlers/relay-heart-rate.sh"], ["\(builtPrograms)/ExampleHeartRateRelay"],
        ]
        let input = [
            notice("restored", "{\"reason\":\"event\",\"devices\":[]}"), event(2, type: "connected", data: "{}"),
            event(3),
            central(4, "subscribed", ",\"mtu\":185", uuid: "2a37"), event(5),
            event(6, data: "{\"profile\":\"heart-rate-monitor\",\"characteristic\":\"2a19\",\"raw\":\"64\"}"),
        ]
        let output = runProgram(words[which], input: input, in: directory)
        #expect(output.status == 0)
        let served = output.replies.filter { $0.contains("serve") }
        #expect(served == Array(repeating: #"{"serve":{"characteristic":"2a37","hex":"1049"}}"#, count: 2))
        #expect(output.replies.count { $0.contains("\"ack\":") } == 5)
        #expect(output.standardOutput == ["C0:00:00:00:00:01 listens"])
    }
}
