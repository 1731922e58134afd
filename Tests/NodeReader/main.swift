// Opens one node as the bridge does, and prints what comes: for tests that run a program under an emulation of devices.
import Glibc
import WakeModel
import WakeSystem

/// True once there is something to read; false after two seconds of silence.
func waits(for descriptor: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 2000) > 0
}

func readReports(_ path: String, writing reports: ArraySlice<String>) throws {
    let node = try HidrawNode(opening: path)
    print("numbers", node.numbersReports, node.inputNumbers, node.fault.map { "\($0)" } ?? "sound")
    for report in reports { print("wrote", try node.write([UInt8](hexadecimal: report) ?? [])) }
    while waits(for: node.raw) {
        switch try node.read() {
        case .content(let report): print("report", report.number, report.bytes.hexadecimal)
        case .wouldBlock: continue
        case .closed: return print("closed")
        }
    }
}

func readEvents(_ path: String, isExclusive: Bool) throws {
    var rest: [UInt8] = []
    let node = try EvdevNode(opening: path, isExclusive: isExclusive)
    let state = try node.state()
    print("state", state.keys.sorted(), state.switches.sorted(), state.leds.sorted())
    for (code, value) in state.axes.sorted(by: { $0.key < $1.key }) { print("axis", code, value) }
    for (code, values) in state.slots.sorted(by: { $0.key < $1.key }) { print("slots", code, values) }
    while waits(for: node.raw) {
        switch try node.read(after: &rest) {
        case .content(let events): for event in events { print("event", event.type, event.code, event.value) }
        case .wouldBlock: continue
        case .closed: return print("closed")
        }
    }
}

let arguments = CommandLine.arguments
do {
    switch (arguments.dropFirst().first, arguments.dropFirst(2).first) {
    case ("hid", let path?): try readReports(path, writing: arguments.dropFirst(3))
    case ("input", let path?): try readEvents(path, isExclusive: arguments.count > 3)
    default: print("usage: NodeReader hid PATH [REPORT...] | input PATH [exclusive]")
    }
} catch {
    print(error)
    exit(1)
}
