// The inventory of what is attached: messages in any order, lost ones, and the enumeration that makes up for them.
import TestBench
import Testing
import WakeSources
import WakeSystem

private let line = "/sys/devices/x/tty/ttyACM0"

private func message(_ action: UdevRecord.Action, _ sequence: UInt64, born: Int? = 1, _ more: [String: String] = [:])
    -> UdevRecord
{
    device(line, "tty", more, action: action, sequence: sequence, born: born)
}

@Suite("What is attached")
struct AttachedDevicesTests {
    private var devices = AttachedDevices()

    @Test("a device is attached, changes and is detached; what is told twice or says nothing new changes nothing")
    mutating func life() {
        let first = message(.add, 1)
        #expect(devices.apply(first) == [.attached(first, synthesized: false)])
        #expect(devices.apply(first) == [])
        #expect(devices.apply(message(.add, 2)) == [])
        #expect(devices.apply(message(.bind, 3)) == [])
        #expect(devices.apply(message(.change, 4, ["TAGS": ":a:b:"])) == [])
        let other = message(.change, 5, ["POWER_SUPPLY_ONLINE": "1"])
        #expect(devices.apply(other) == [.changed(other)])
        #expect(devices[line] == other && devices.records == [other])
        #expect(devices.apply(message(.unbind, 6, ["POWER_SUPPLY_ONLINE": "1"])) == [])
        #expect(devices.apply(message(.remove, 7)) == [.detached(line, synthesized: false)])
        #expect(devices.apply(message(.remove, 8)) == [])
        #expect(devices.records == [])
    }

    @Test(
        "whatever is said of a device that was not known means that it is there",
        arguments: [UdevRecord.Action.bind, .unbind, .change, .found])
    mutating func missedFirst(action: UdevRecord.Action) {
        let record = message(action, 5)
        #expect(devices.apply(record) == [.attached(record, synthesized: false)])
    }

    @Test("a message that was overtaken by a later one is ignored, also after the device went")
    mutating func overtaken() {
        #expect(devices.apply(message(.add, 5)).count == 1)
        #expect(devices.apply(message(.remove, 4)) == [])
        #expect(devices.apply(message(.remove, 9)).count == 1)
        #expect(devices.apply(message(.change, 8)) == [])
        #expect(devices.apply(message(.add, 12, born: 2)).count == 1)
        var fresh = AttachedDevices()
        #expect(fresh.apply(message(.remove, 9)) == [])
        #expect(fresh.apply(message(.add, 8)) == [])
    }

    @Test("a successor on the same path is seen by its birth, or else by its numbers")
    mutating func successor() {
        let second = message(.add, 9, born: 2)
        _ = devices.apply(message(.add, 1))
        #expect(devices.apply(second) == [.detached(line, synthesized: true), .attached(second, synthesized: false)])
        // The end of the first one, late.
        #expect(devices.apply(message(.remove, 10, born: 1)) == [])
        #expect(devices.apply(message(.change, 11, born: 1, ["A": "b"])) == [])
        let unborn = message(.change, 12, born: nil, ["MINOR": "1"])
        _ = devices.apply(unborn)
        #expect(devices[line] == unborn)
        let next = message(.change, 13, born: nil, ["MINOR": "2"])
        #expect(devices.apply(next) == [.detached(line, synthesized: true), .attached(next, synthesized: false)])
    }

    @Test("a Bluetooth line that moves when it is opened stays attached")
    mutating func moves() {
        let old = "/sys/devices/virtual/tty/rfcomm0"
        let new = "/sys/devices/virtual/bluetooth/hci0/hci0:11/rfcomm0"
        _ = devices.apply(device(old, sequence: 1, born: 7))
        let moved = device(
            new, "tty", ["DEVPATH_OLD": String(old.dropFirst(4))], action: .change, sequence: 2, born: 7)
        #expect(devices.apply(moved) == [.moved(from: old, moved)])
        #expect(devices.records.map(\.path) == [new])
        #expect(devices.apply(device(old, action: .change, sequence: 1, born: 7)) == [])
        #expect(devices.apply(device(new, action: .remove, sequence: 3)) == [.detached(new, synthesized: false)])
    }

    @Test("an enumeration tells what was missed: who went, who came, who was replaced, and who changed")
    mutating func reconciles() {
        let paths = (0..<5).map { "/sys/devices/x/tty/ttyACM\($0)" }
        for (number, path) in paths.prefix(4).enumerated() {
            _ = devices.apply(device(path, action: .add, sequence: UInt64(number + 1), born: 1))
        }
        let snapshot = [
            device(paths[0], born: 1), device(paths[2], born: 9), device(paths[3], "tty", ["A": "b"], born: 1),
            device(paths[4], born: 9),
        ]
        #expect(
            devices.reconcile(with: snapshot) == [
                .detached(paths[1], synthesized: true), .detached(paths[2], synthesized: true),
                .attached(snapshot[1], synthesized: true), .changed(snapshot[2]),
                .attached(snapshot[3], synthesized: true),
            ])
        #expect(devices.reconcile(with: snapshot) == [])
        // Of the one that was replaced, said before it was; then of its successor.
        #expect(devices.apply(device(paths[2], action: .remove, sequence: 20, born: 1)) == [])
        #expect(devices.apply(device(paths[2], action: .remove, sequence: 21, born: 9)).count == 1)
    }

    @Test("ten thousand devices that never come again leave nothing behind but a little memory of the last")
    mutating func forgets() {
        for number in 1...10_000 {
            let path = "/sys/devices/x/input\(number)/event\(number)"
            #expect(devices.apply(device(path, "input", action: .add, sequence: UInt64(2 * number))).count == 1)
            #expect(devices.apply(device(path, "input", action: .remove, sequence: UInt64(2 * number + 1))).count == 1)
        }
        #expect(devices.records == [])
        #expect(devices.remembered <= 1_024)
    }
}

extension AttachedDevices {
    /// How many paths it holds in any of its tables.
    fileprivate var remembered: Int {
        Mirror(reflecting: self).children.map { Mirror(reflecting: $0.value).children.count }.max() ?? 0
    }
}
