// A journal that kills itself in the middle of a turn, with three events committed, two of them leased, and a fourth in the open turn.
// With a number of turns behind the directory, each turn appends one event and acknowledges the third before it. The log is full after
// ten turns. With the word `agenda` behind it, each of ten turns fires an alarm on disk and counts that in its entry.
import Glibc
import WakeJournal
import WakeModel

let root = CommandLine.arguments[1]
let isScheduled = CommandLine.arguments.last == "agenda"
let turns = CommandLine.arguments.count > 2 ? UInt64(CommandLine.arguments[2]) : nil
var settings = JournalSettings(runtimeDirectory: root, stateDirectory: root)
if turns != nil { settings.turnLogBytes = 2_048 }
let journal = try Journal(opening: settings, bootID: "boot")
let device = journal.origin(of: Device(uri: "/d/1", alias: "one", profile: nil, kind: .bluetoothCentral))
let handler = journal.handlerID(named: "h")
let next = journal.recover().next.rawValue

@MainActor
func append(_ number: UInt64, _ bytes: [UInt8]) {
    let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5))
    let event = DeviceEvent(origin: device, kind: .data(.serial, bytes), stamp: stamp)
    journal.append(event, as: Sequence(number), for: [handler], durability: .run)
}

if isScheduled {
    for number in next..<(next + 10) {
        let alarm = Occasion(name: "alarm.fired", budgetClass: .data, payload: Array("{}".utf8))
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5))
        let event = DeviceEvent(origin: device, kind: .occasion(alarm), stamp: stamp)
        journal.append(event, as: Sequence(number), for: [handler], durability: .disk)
        let key = StoredEntry.Key(handler: handler, source: "alarm", id: "pill")
        journal.setEntry(StoredEntry(key: key, value: Array("\(number)".utf8)))
        _ = journal.commit()
    }
    kill(getpid(), SIGKILL)
}
if let turns {
    for number in next..<(next + turns) {
        append(number, Array(repeating: UInt8(truncatingIfNeeded: number), count: 90))
        if number > 3 { journal.acknowledge([Sequence(number - 3)], by: handler) }
        _ = journal.commit()
    }
    kill(getpid(), SIGKILL)
}
for number in next..<(next + 3) { append(number, [UInt8(number)]) }
journal.lease([Sequence(next), Sequence(next + 1)], to: handler)
_ = journal.commit()
let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 6))
let unfinished = DeviceEvent(origin: device, kind: .connected(folded: 0), stamp: stamp)
journal.append(unfinished, as: Sequence(next + 3), for: [handler], durability: .run)
kill(getpid(), SIGKILL)
