// What the probe does: it follows udev as the bridge does, tells what it hears, and obeys.
import Glibc
import WakeSources
import WakeSystem

struct Listener: ~Copyable {
    private var monitor: UdevMonitor
    private var devices = AttachedDevices()
    private var turns = 0

    var raw: Int32 { monitor.raw }

    init(_ monitor: consuming UdevMonitor) { self.monitor = monitor }

    mutating func start() throws(SystemError) {
        try reconcile()
        say("ready")
    }

    mutating func hear() throws(SystemError) {
        turns += 1
        for _ in 1...256 {
            switch monitor.receive() {
            case .record(let record): tell(devices.apply(record))
            case .irrelevant: continue
            case .nothing: return
            case .overflow:
                monitor.discard()
                say("overflow")
                try reconcile()
            }
        }
    }

    mutating func obey(_ line: String) throws(SystemError) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "show":
            let value = devices[words[1]]?.properties[words[2]] ?? "nil"
            say("shown", words[2], String(value.unicodeScalars.count), String(value.prefix(80)))
        case "reconcile":
            monitor.discard()
            try reconcile()
            say("reconciled")
        case "turns": say(turns > 3 ? "several turns" : "few turns")
        case "count": say("count", String(devices.records.count))
        default: say("what is", line)
        }
    }

    private mutating func reconcile() throws(SystemError) {
        tell(
            devices.reconcile(with: try Udev.enumerate(subsystems: UdevRecord.accessorySubsystems)))
    }
}

private func say(_ words: String...) {
    print(words.joined(separator: " "))
    fflush(nil)
}

private func tell(_ changes: [AttachedDevices.Change]) {
    for change in changes {
        switch change {
        case .attached(let record, let synthesized):
            let source = AccessoryIdentity(record)?.uri ?? "-"
            say("attached", record.path, record.node ?? "-", source, synthesized ? "synthesized" : "announced")
        case .detached(let path, let synthesized):
            say("detached", path, synthesized ? "synthesized" : "announced")
        case .changed(let record): say("changed", record.path, record.node ?? "-")
        case .moved(let from, let record): say("moved", from, record.path)
        }
    }
}
