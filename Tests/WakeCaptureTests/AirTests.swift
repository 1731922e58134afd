// What passes on the monitor channel: links that end and why, controllers, and captures as btmon writes them.
import Testing
import WakeCapture
import WakeHCI
import WakeModel
import WakeTrace

/// Opcode, index and length before the packet, each of two bytes with the low one first.
private func packet(_ opcode: UInt8, adapter: UInt8 = 0, _ bytes: [UInt8]) -> [UInt8] {
    [opcode, 0, adapter, 0, UInt8(bytes.count), 0] + bytes
}

private func event(_ code: UInt8, adapter: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
    packet(3, adapter: adapter, [code, UInt8(body.count)] + body)
}

private let reversed: [UInt8] = [0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0]
private let strap = "C0:F1:F2:F3:F4:01"

private func connection(_ subevent: UInt8, adapter: UInt8 = 0, handle: UInt8 = 0x40, status: UInt8 = 0) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: subevent == 1 ? 7 : 19)
    return event(0x3e, adapter: adapter, [subevent, status, handle, 0, 0, 1] + reversed + padding)
}

private func disconnection(adapter: UInt8 = 0, handle: UInt8 = 0x40, status: UInt8 = 0, _ reason: UInt8) -> [UInt8] {
    event(0x05, adapter: adapter, [status, handle, 0, reason])
}

@Test(
    "A link that ends is reported with its peer and the reason, whichever event had reported its beginning",
    arguments: [0x01, 0x0a, 0x29] as [UInt8])
func airDrops(subevent: UInt8) {
    var follower = AirFollower()
    #expect(follower.ingest(connection(subevent)) == .linkUp(address: strap))
    #expect(follower.ingest(disconnection(0x08)) == .linkDropped(address: strap, reason: "timeout"))
    #expect(follower.ingest(disconnection(0x08)) == nil)
    _ = follower.ingest(connection(subevent))
    #expect(follower.ingest(disconnection(0x3f)) == .linkDropped(address: strap, reason: "0x3f"))
}

@Test("Links of several controllers are told apart, and those of a controller that goes are forgotten")
func airAdapters() {
    var follower = AirFollower()
    _ = follower.ingest(packet(0, adapter: 1, [0, 0] + reversed + Array("hci1\0\0\0\0".utf8)))
    _ = follower.ingest(connection(1, adapter: 1))
    #expect(follower.ingest(disconnection(adapter: 0, 0x13)) == nil)
    #expect(follower.ingest(disconnection(adapter: 1, 0x13)) == .linkDropped(address: strap, reason: "remote-user"))
    _ = follower.ingest(connection(1, adapter: 1))
    #expect(follower.ingest(packet(1, adapter: 1, [])) == .controllerGone(index: 1))
    #expect(follower.ingest(disconnection(adapter: 1, 0x13)) == nil)
    #expect(follower.controllers.isEmpty)
}

@Test("A controller's name that was cut within a character keeps what is valid of it")
func airNames() {
    var follower = AirFollower()
    _ = follower.ingest(packet(0, [0, 0] + reversed + Array("radio: ".utf8) + [0xc3]))
    #expect(follower.controllers[0]?.name == "radio: ")
}

/// Device Connected of the management channel: a cookie, the event, the address and its type, then more.
private func named(_ address: [UInt8], type: UInt8 = 2) -> [UInt8] {
    packet(17, [9, 0, 0, 0, 0x0b, 0] + address + [type, 0, 0, 0, 0, 0, 0])
}

@Test("A link of a private address is called by the identity that the kernel finds behind it, and ends under that")
func airIdentities() {
    var follower = AirFollower()
    let identity: [UInt8] = [0x10, 0, 0, 0, 0xde, 0xc0]
    #expect(follower.ingest(connection(1)) == .linkUp(address: strap))
    #expect(follower.ingest(named(identity, type: 0)) == nil)
    #expect(follower.ingest(named(identity)) == .linkUp(address: "C0:DE:00:00:00:10"))
    // Every listener of the management channel gets it, so it passes again.
    #expect(follower.ingest(named(reversed)) == nil)
    #expect(follower.addresses == ["C0:DE:00:00:00:10"])
    #expect(follower.ingest(disconnection(0x13)) == .linkDropped(address: "C0:DE:00:00:00:10", reason: "remote-user"))
    _ = follower.ingest(connection(1))
    #expect(follower.ingest(named(reversed)) == nil)
    #expect(follower.ingest(disconnection(0x13)) == .linkDropped(address: strap, reason: "remote-user"))
    #expect(follower.ingest(named(identity)) == nil)
}

@Test(
    "A link that cannot be encrypted is told with the reason, before it ends", arguments: [0x08, 0x30, 0x59] as [UInt8])
func airEncryption(code: UInt8) {
    var follower = AirFollower()
    #expect(follower.ingest(event(code, [0x06, 0x40, 0, 0])) == nil)
    _ = follower.ingest(connection(1))
    #expect(follower.ingest(event(code, [0, 0x40, 0, 1])) == nil)
    #expect(follower.ingest(event(code, [0x06, 0x40])) == nil)
    let happening = follower.ingest(event(code, [0x06, 0x40, 0, 0]))
    #expect(happening == .encryptionFailed(address: strap, reason: "key-missing"))
    #expect(follower.ingest(disconnection(0x16)) == .linkDropped(address: strap, reason: "local-host"))
}

@Test("A controller that refuses another link for want of room is reported, and no other refusal")
func airRoom() {
    var follower = AirFollower()
    #expect(follower.ingest(event(0x0f, [0x0d, 1, 0x0d, 0x20])) == .noRoom(index: 0))
    #expect(follower.ingest(event(0x0f, [0x09, 1, 0x43, 0x20])) == .noRoom(index: 0))
    #expect(follower.ingest(event(0x0f, [0x0c, 1, 0x0d, 0x20])) == nil)
    #expect(follower.ingest(event(0x0f, [0x0d, 1, 0x0b, 0x20])) == nil)
}

@Test(
    "A connection that the controller gives up is reported, with whether for want of room; a cancelled one is not",
    arguments: [0x01, 0x0a, 0x29] as [UInt8])
func airFailures(subevent: UInt8) {
    var follower = AirFollower()
    #expect(
        follower.ingest(connection(subevent, adapter: 2, status: 0x3e))
            == .connectFailed(index: 2, forWantOfRoom: false))
    #expect(follower.ingest(connection(subevent, status: 0x09)) == .connectFailed(index: 0, forWantOfRoom: true))
    #expect(follower.ingest(connection(subevent, status: 0x0d)) == .connectFailed(index: 0, forWantOfRoom: true))
    #expect(follower.ingest(connection(subevent, status: 0x02)) == nil)
    #expect(follower.ingest(connection(subevent, status: 0x3c)) == nil)
    #expect(follower.addresses.isEmpty)
}

@Test("The start of a scan by the kernel is reported, and neither its end nor another command")
func airScans() {
    var follower = AirFollower()
    #expect(follower.ingest(packet(2, adapter: 1, [0x0c, 0x20, 2, 1, 1])) == .scans(index: 1))
    #expect(follower.ingest(packet(2, [0x42, 0x20, 6, 1, 1, 0, 0, 0, 0])) == .scans(index: 0))
    #expect(follower.ingest(packet(2, [0x0c, 0x20, 2, 0, 0])) == nil)
    #expect(follower.ingest(packet(2, [0x0b, 0x20, 7, 1, 0, 0, 0, 0, 0, 0])) == nil)
    #expect(follower.ingest(packet(2, [0x0c, 0x20, 0])) == nil)
}

@Test("A controller is known by its address, its name and its maker")
func airControllers() {
    var follower = AirFollower()
    _ = follower.ingest(packet(0, adapter: 2, [0, 1] + reversed + Array("hci2\0\0\0\0".utf8)))
    _ = follower.ingest(packet(10, adapter: 2, reversed + [0x0f, 0x00]))
    let known = follower.controllers[2]
    #expect(known?.address == strap)
    #expect(known?.name == "hci2")
    #expect(known?.manufacturer == 15)
    #expect(known?.maker == "Broadcom")
}

@Test("Other events, BR/EDR links and packets that are cut anywhere tell nothing")
func airIgnores() {
    var follower = AirFollower()
    let quiet = [
        event(0x3e, [0x02, 0x01, 0x00]), event(0x0e, [0x01, 0x03, 0x0c, 0x00]),
        packet(4, [0x40, 0, 0, 0]), packet(99, []), event(0x03, [0x00, 0x40, 0x00] + reversed + [1, 0]),
        disconnection(0x13),
    ]
    for bytes in quiet { #expect(follower.ingest(bytes) == nil) }
    for whole in [connection(1), disconnection(0x13), packet(0, [0, 0] + reversed)] {
        for length in 0..<whole.count { #expect(follower.ingest(Array(whole.prefix(length))) == nil) }
    }
    _ = follower.ingest(connection(1))
    #expect(follower.ingest(disconnection(status: 0x0c, 0x13)) == nil)
    #expect(follower.ingest(disconnection(0x13)) == .linkDropped(address: strap, reason: "remote-user"))
}

@Test("A packet becomes the record that btmon writes: opcode and index as flags, its own header left out")
func airRecord() throws {
    let time = WallTime(microseconds: 1_795_246_966_727_125)
    #expect(AirCapture.header == Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xd1])
    let record = try #require(AirCapture.record(disconnection(adapter: 2, 0x13), at: time))
    let stamp = UInt64(time.microseconds + 0x00dc_ddb3_0f2f_8000)
    let stampBytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: stamp >> ($0 * 8)) }
    #expect(
        record == [0, 0, 0, 6, 0, 0, 0, 6, 0, 2, 0, 3, 0, 0, 0, 0] + stampBytes + [0x05, 0x04, 0x00, 0x40, 0x00, 0x13])
    #expect(AirCapture.record([3, 0, 0, 0, 9, 0, 1], at: time) == nil)
}

/// A capture with a second between its packets.
private func capture(_ packets: [[UInt8]]) throws -> [UInt8] {
    var capture = AirCapture.header
    for (second, bytes) in packets.enumerated() {
        capture += try #require(AirCapture.record(bytes, at: WallTime(microseconds: Int64(second) * 1_000_000)))
    }
    return capture
}

@Test(
    "Links that a controller took with it end when it was closed, or at the latest when their peer or handle is linked again"
)
func airUnsaid() throws {
    let stranger = event(0x3e, [1, 0, 0x40, 0, 0, 1] + [0x02, 0, 0, 0, 0, 0xc0] + [UInt8](repeating: 0, count: 7))
    let rows: [(packets: [[UInt8]], kinds: [String])] = [
        ([connection(1), packet(9, []), connection(1)], ["0 connected", "1 adapter-down", "2 connected"]),
        ([connection(1), packet(1, [])], ["0 connected", "1 adapter-down"]),
        ([connection(1), packet(1, adapter: 1, []), disconnection(0x13)], ["0 connected", "2 remote-user"]),
        ([connection(1), connection(1, handle: 0x41)], ["0 connected", "1 unspecified", "1 connected"]),
        (
            [connection(1), stranger, disconnection(0x13)],
            ["0 connected", "1 unspecified", "1 connected", "2 remote-user"]
        ),
        ([connection(1), event(0x03, [0x00, 0x40, 0x00] + reversed + [1, 0])], ["0 connected", "1 unspecified"]),
    ]
    for row in rows {
        let told = try TraceImport.run(capture(row.packets)).operations.map { operation in
            let second = operation.offset.nanoseconds / 1_000_000_000
            switch operation.kind {
            case .connected: return "\(second) connected"
            case .disconnected(let reason, _): return "\(second) \(reason)"
            case .data, .gap, .attention, .occasion, nil: return "\(second) else"
            }
        }
        #expect(told == row.kinds)
    }
}

@Test("A capture of the air is imported like any other: each link with its data")
func airImport() throws {
    let notification: [UInt8] = [0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x1b, 3, 0, 0x10, 0x49]
    let result = try TraceImport.run(capture([connection(1), packet(5, notification), disconnection(0x13)]))
    #expect(result.header.devices.map(\.address) == [strap])
    #expect(result.operations.map(\.offset) == [.zero, .seconds(1), .seconds(2)])
    #expect(result.operations.last?.kind == .disconnected(reason: "remote-user", folded: 0))
}
