// A journal that dies by kill -9 in the middle of a turn: three events committed and two leased, a fourth left in the open turn.
import Glibc
import WakeJournal
import WakeModel

let root = CommandLine.arguments[1]
let settings = JournalSettings(runtimeDirectory: root, stateDirectory: root)
let journal = try Journal(opening: settings, bootID: "boot")
let device = journal.deviceID(for: Device(source: "/d/1", alias: "one", profile: nil, mode: .bluetoothCentral))
let handler = journal.handlerID(named: "h")
let next = journal.recover().next.rawValue
for number in next..<(next + 3) {
    let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 5))
    let event = DeviceEvent(device: device, kind: .data(.serial, [UInt8(number)]), stamp: stamp)
    journal.append(event, as: Sequence(number), owedTo: [handler], durability: .run)
}
journal.lease([Sequence(next), Sequence(next + 1)], to: handler)
_ = journal.commit()
let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: WallTime(microseconds: 6))
let unfinished = DeviceEvent(device: device, kind: .connected(folded: 0), stamp: stamp)
journal.append(unfinished, as: Sequence(next + 3), owedTo: [handler], durability: .run)
kill(getpid(), SIGKILL)
