// A listener for the tests of udev: prints what is attached and what becomes of it, a line each, and does what it is told on
// its input. It is a program of its own because devices that are made up show only to processes that were started for them.
import Glibc
import WakeSources
import WakeSystem

nonisolated(unsafe) var monitor = try UdevMonitor()
nonisolated(unsafe) var devices = AttachedDevices()

func say(_ words: String...) {
    print(words.joined(separator: " "))
    fflush(nil)
}

func tell(_ changes: [AttachedDevices.Change]) {
    for change in changes {
        switch change {
        case .attached(let record, let synthesized):
            let source = AccessoryIdentity(record)?.source ?? "-"
            say("attached", record.path, record.node ?? "-", source, synthesized ? "synthesized" : "announced")
        case .detached(let path, let synthesized):
            say("detached", path, synthesized ? "synthesized" : "announced")
        case .changed(let record): say("changed", record.path, record.node ?? "-")
        case .moved(let from, let record): say("moved", from, record.path)
        }
    }
}

func reconcile() throws(SystemError) { tell(devices.reconcile(with: try Udev.enumerate())) }

func hear() throws(SystemError) {
    while true {
        switch monitor.receive() {
        case .record(let record): tell(devices.take(record))
        case .nothing: return
        case .overflow:
            monitor.discard()
            say("overflow")
            try reconcile()
        }
    }
}

func obey(_ line: String) throws(SystemError) {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "show":
        let value = devices[words[1]]?.properties[words[2]] ?? "nil"
        say("shown", words[2], String(value.unicodeScalars.count), String(value.prefix(80)))
    case "reconcile":
        monitor.discard()
        try reconcile()
        say("reconciled")
    case "count": say("count", String(devices.records.count))
    default: say("what is", line)
    }
}

try reconcile()
say("ready")
var watched = [
    pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: monitor.raw, events: Int16(POLLIN), revents: 0),
]
while poll(&watched, 2, -1) > 0 {
    if watched[1].revents != 0 { try hear() }
    if watched[0].revents != 0 {
        guard let line = readLine() else { break }
        try obey(line)
    }
}
