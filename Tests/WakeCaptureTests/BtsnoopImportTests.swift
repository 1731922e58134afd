// The import of btsnoop, on real captures where they are present, and on damage done to them.
import TestBench
import Testing
import WakeModel
import WakeTrace

@testable import WakeCapture

private func capture(_ name: String) -> [UInt8] { bytes(of: DeviceCaptures.btsnoop(name)) }

private func values(_ result: ImportResult) -> [BluetoothUUID: [[UInt8]]] {
    var values: [BluetoothUUID: [[UInt8]]] = [:]
    for operation in result.operations {
        if case .data(.characteristic(let name), let bytes) = operation.kind {
            values[name.uuid, default: []].append(bytes)
        }
    }
    return values
}

/// Offsets at which a record, or the end of the file, begins.
private func boundaries(_ bytes: [UInt8]) -> [Int] {
    var result = [16]
    while let last = result.last, last + 24 <= bytes.count {
        result.append(last + 24 + bytes[(last + 4)..<(last + 8)].reduce(0) { $0 << 8 | Int($1) })
    }
    return result
}

@Test(
    "The Domyos capture gives 1030 notifications on one characteristic, whose 522 frames all check",
    .enabled(unless: DeviceCaptures.hindrance))
func domyos() throws {
    let bytes = capture("domyos-treadmill")
    let result = try TraceImport.run(bytes)
    let values = values(result)
    #expect(result.counts.records == 3640)
    let uuid = try #require(BluetoothUUID("49535343-1e4d-4bd9-ba61-23c647249616"))
    #expect(values.mapValues(\.count) == [uuid: 1030])
    var frames: [[UInt8]] = []
    for value in values.values.joined() {
        if value.first == 0xf0 { frames.append(value) } else if !frames.isEmpty { frames[frames.count - 1] += value }
    }
    #expect(frames.count == 522)
    #expect(frames.allSatisfy { $0.dropLast().reduce(0, &+) == $0.last })
    #expect(frames.filter { $0.count == 26 && $0[1] == 0xbc }.count == 393)
}

@Test(
    "The Horizon capture gives 786 notifications on fff4 and 261 on fff3",
    .enabled(unless: DeviceCaptures.hindrance))
func horizon() throws {
    let bytes = capture("horizon-treadmill")
    let result = try TraceImport.run(bytes)
    #expect(values(result)[BluetoothUUID(short: 0xfff4)]?.count == 786)
    #expect(values(result)[BluetoothUUID(short: 0xfff3)]?.count == 261)
}

@Test(
    "The smart-pen capture gives 34 notifications on f101, one of them named by a discovery that came after it",
    .enabled(unless: DeviceCaptures.hindrance))
func smartPen() throws {
    let bytes = capture("smart-pen")
    let result = try TraceImport.run(bytes)
    #expect(result.counts.notifications == 34)
    #expect(values(result)[BluetoothUUID(short: 0xf101)]?.count == 34)
    #expect(result.warnings.isEmpty)
}

@Test(
    "A capture of nothing gives an empty trace",
    .enabled(unless: DeviceCaptures.hindrance))
func nearEmpty() throws {
    let bytes = capture("near-empty-monitor")
    let result = try TraceImport.run(bytes)
    #expect(result.counts.records == 6)
    #expect(result.operations.isEmpty)
    #expect(result.header.devices.isEmpty)
}

@Test(
    "An imported trace reads back as the operations it was made of",
    .enabled(unless: DeviceCaptures.hindrance),
    arguments: ["domyos-treadmill", "horizon-treadmill"])
func importRoundTrip(name: String) throws {
    let bytes = capture(name)
    let result = try TraceImport.run(bytes)
    var reader = TraceReader(bytes: result.trace)
    var kinds: [DeviceEvent.Kind?] = []
    while let operation = try reader.next() { kinds.append(operation.kind) }
    #expect(kinds == result.operations.map(\.kind))
}

@Test(
    "A capture cut at any byte is an error with its offset, and whole only between records",
    .enabled(unless: DeviceCaptures.hindrance),
    arguments: ["near-empty-monitor", "horizon-treadmill"])
func cuts(name: String) throws {
    let bytes = capture(name)
    let whole = Set(boundaries(bytes))
    let near = boundaries(bytes).prefix(60).flatMap { [$0 - 1, $0, $0 + 1] }
    for length in Set(near + Array(0..<400) + Array(stride(from: 0, to: bytes.count, by: 4999)))
    where length <= bytes.count {
        let cut = Array(bytes.prefix(length))
        if whole.contains(length) {
            #expect(throws: Never.self) { try TraceImport.run(cut) }
        } else {
            let error = thrown(ImportError.self) { try TraceImport.run(cut) }
            #expect(error.map { $0.offset <= length } == true)
            if length >= 16 { #expect(try TraceImport.run(cut, partial: true).cut == error) }
        }
    }
}

@Test(
    "5,000 captures with random damage never crash the import, and what they give is a trace that reads",
    .enabled(unless: DeviceCaptures.hindrance))
func fuzz() throws {
    let bytes = capture("horizon-treadmill")
    let ends = boundaries(bytes)
    var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    func random(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
    for round in 0..<5_000 {
        let first = random(ends.count - 61)
        var damaged = Array(bytes[..<16]) + Array(bytes[ends[first]..<ends[first + 60]])
        for _ in 0...random(12) { damaged[random(damaged.count - 16) + 16] = UInt8(random(256)) }
        guard let result = try? TraceImport.run(damaged, partial: true), round % 10 == 0 else { continue }
        var reader = TraceReader(bytes: result.trace)
        while try reader.next() != nil {}
    }
}

@Test(
    "The shipped heart-rate recording is canonical but for its comment, and over 70 seconds from connect to disconnect")
func shippedRecording() throws {
    let bytes = bytes(of: "\(packageFolder)/Devices/heart-rate-monitor/recording.trace")
    var reader = TraceReader(bytes: bytes)
    let header = try reader.header()
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    #expect(operations.first?.kind == .connected(folded: 0))
    #expect(operations.last?.kind == .disconnected(reason: "remote-user", folded: 0))
    #expect(operations.last.map { $0.offset > .seconds(70) } == true)
    let result = ImportResult(header: header, operations: operations, warnings: [], counts: .init(), cut: nil)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(String(decoding: result.trace, as: UTF8.self) == lines.joined(separator: "\n") + "\n")
}
