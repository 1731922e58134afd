// A peripheral makes bluetoothd announce ever more of it. Beside it, another peripheral's handler still gets every
// beat.
import TestBench
import Testing
import WakeModel

extension Hostile {
    @Suite("A hostile peripheral", .timeLimit(.minutes(5)))
    struct PeripheralTests {
        private let ground = Ground("hostile")
        private var record: [String] { lines(of: "\(ground.record)-victim") }

        private func comes(_ text: String, times count: Int) async throws -> Bool {
            try await wait(60, every: 0.02) { record.count { $0.contains(text) } >= count }
        }

        @Test(
            "beside one of ten thousand characteristics and a thousand names, another's beats come in order, each once")
        func crowd() async throws {
            let bus = try PrivateBus()
            let bluez = try ScriptedBluez(on: bus)
            for command in ["adapter hci0", "peripheral 1 hci0", "peripheral 2 hci0", "live"] {
                try bluez.tell(command)
            }
            ground.install("victim", [])
            let daemon = Daemon(
                ground, ["--no-accessories"], ahead: ["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"])
            try daemon.start()
            #expect(try await comes("device.connected", times: 2), "\(text(of: ground.daemonLog))")
            for number in 0..<10 {
                try bluez.tell("crowd 2 \(0x4000 + number * 1_000) 1000")
                try bluez.tell("waver 2 100")
                try bluez.tell("notify 1 00\([UInt8(number)].hexadecimal)")
            }
            #expect(try await comes("\"raw\":\"0009\"", times: 1), "\(text(of: ground.daemonLog))")
            #expect(try await comes("access-denied", times: 1))
            #expect(Heard.read("\(ground.record)-victim").map(\.beat) == Array(0..<10))
            #expect(record.count { $0.contains("access-denied") } == 1)
            #expect(try await daemon.stop() == 0)
            let isClean = try await wait(5) { daemon.leftovers.isEmpty }
            #expect(isClean, "\(daemon.leftovers)")
        }
    }
}
