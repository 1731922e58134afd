// Random walks of a machine where devices come and go, and of a socket that loses some of what is told of them.
import TestBench
import Testing
import WakeSources
import WakeSystem

/// The truth, what waits in the socket, and what a listener makes of it.
private struct Walk {
    var dice: Dice
    /// Half of the machines have no udev that says when a device was born.
    let tellsBirth: Bool
    var truth: [String: UdevRecord] = [:]
    var socket: [UdevRecord] = []
    var hasOverflown = false
    /// The enumeration after an overflow may have to wait.
    var isLookOwed = false
    var sequence: UInt64 = 0
    var clock = 0
    var devices = AttachedDevices()
    /// Who follows the changes alone.
    var follower: [String: UdevRecord] = [:]
    var overflows = 0

    init(_ seed: UInt64) {
        dice = Dice(seed)
        tellsBirth = seed % 2 == 0
    }

    /// One thing happens to one device, and udev announces it.
    mutating func happen() {
        clock += 1
        sequence += UInt64(1 + dice.below(3))
        let path = "/sys/devices/x/tty/ttyACM\(dice.below(6))"
        var record: UdevRecord
        if let known = truth[path] {
            record = known
            record.action = [.remove, .change, .bind, .unbind, .add][dice.below(5)]
            if dice.isOne(in: 2) { record.properties["STATE"] = String(dice.below(3)) }
        } else {
            record = device(path, "tty", ["MINOR": String(dice.below(2))], action: .add, born: tellsBirth ? clock : nil)
        }
        record.sequence = sequence
        truth[path] = record.action == .remove ? nil : record
        announce(record)
    }

    /// A full socket loses what comes, but keeps what it has.
    mutating func announce(_ record: UdevRecord) {
        if socket.count >= 12 || dice.isOne(in: 40) {
            hasOverflown = true
        } else {
            socket.append(record)
        }
    }

    /// The listener reads for a while; an overflow is told before what waits.
    mutating func listen(_ count: Int = .max) {
        for _ in 0..<min(count, socket.count + 1) {
            if hasOverflown {
                recover()
            } else if isLookOwed, dice.isOne(in: 3) {
                look()
            } else if !socket.isEmpty {
                follow(devices.apply(socket.removeFirst()))
            }
        }
    }

    /// While it recovers the world goes on.
    mutating func recover() {
        overflows += 1
        hasOverflown = false
        socket = []
        isLookOwed = true
        if dice.isOne(in: 2) { look() }
    }

    mutating func look() {
        isLookOwed = false
        for _ in 0..<dice.below(6) { happen() }
        let snapshot = truth.values.sorted { $0.path < $1.path }.map { record in
            var found = record
            found.action = .found
            found.sequence = 0
            return found
        }
        for _ in 0..<dice.below(6) { happen() }
        follow(devices.reconcile(with: snapshot))
    }

    mutating func follow(_ changes: [AttachedDevices.Change]) {
        for change in changes {
            switch change {
            case .attached(let record, _):
                #expect(follower.updateValue(record, forKey: record.path) == nil, "attached twice")
            case .detached(let path, _): #expect(follower.removeValue(forKey: path) != nil, "detached twice")
            case .changed(let record):
                #expect(follower.updateValue(record, forKey: record.path) != nil, "changed without being there")
            case .moved: Issue.record("nothing moves here")
            }
        }
    }

    mutating func finish() {
        while hasOverflown || isLookOwed || !socket.isEmpty { listen() }
    }
}

private func essence(_ records: some Collection<UdevRecord>) -> [String: [String: String]] {
    var essence: [String: [String: String]] = [:]
    for record in records { essence[record.path] = record.properties }
    return essence
}

@Suite("What is attached, after losses")
struct AttachedWalkTests {
    @Test("after any mix of lost messages and an enumeration the inventory equals the truth")
    func equalsTruth() {
        var overflows = 0
        for seed in 0..<1_500 as Range<UInt64> {
            var walk = Walk(seed)
            for _ in 0..<100 {
                for _ in 0..<walk.dice.below(5) { walk.happen() }
                walk.listen(walk.dice.below(6))
            }
            walk.finish()
            #expect(essence(walk.devices.records) == essence(walk.truth.values), "seed \(seed)")
            #expect(essence(walk.follower.values) == essence(walk.truth.values), "seed \(seed), as followed")
            overflows += walk.overflows
        }
        #expect(overflows > 5_000)
    }
}
