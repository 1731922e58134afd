// The sources of conditions on the loop, each with what it really watches: what they report at once, and what they are told.
import Glibc
import TestBench
import Testing
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeEngine

/// Conditions on a loop of the test's own, with a directory for what they look at.
final class ConditionBench {
    let loop: EventLoop
    let directory = makeDirectory("/tmp/wakebridge-conditions-XXXXXX")
    var places: ConditionPlaces
    let bus: SystemBus?
    private(set) var watches: ConditionWatches
    /// What was reported of each, in order.
    private(set) var told: [Condition: [Bool]] = [:]

    init(bus address: BusAddress? = nil, _ change: (inout ConditionPlaces, String) -> Void = { _, _ in }) throws {
        loop = try EventLoop()
        bus = address.map { [loop] in SystemBus(on: loop, to: $0) }
        var places = ConditionPlaces(stateDirectory: directory)
        places.intervals.look = .milliseconds(20)
        places.intervals.heat = .milliseconds(20)
        places.intervals.clock = (.milliseconds(5), .milliseconds(20))
        places.intervals.together = .milliseconds(5)
        places.intervals.pause = .milliseconds(5)
        places.readers = Readers()
        change(&places, directory)
        self.places = places
        watches = ConditionWatches(on: loop, bus: bus, places)
        try bus?.open()
    }

    deinit { Directory.removeTree(directory) }

    func open(_ condition: Condition) {
        watches.open(condition) { [unowned self] in told[condition, default: []].append($0) }
    }

    func last(_ condition: Condition) -> Bool? { told[condition]?.last }

    /// Turns the loop until this was reported last.
    func becomes(_ condition: Condition, _ isTrue: Bool) throws -> Bool {
        try loop.turn(for: .seconds(30)) { last(condition) == isTrue }
    }
}

/// All handlers run as the daemon's own user, except two.
private struct Readers: PathReaders {
    static let (own, other, unknown) = (HandlerID(rawValue: 1), HandlerID(rawValue: 2), HandlerID(rawValue: 3))

    func reader(of handler: HandlerID) -> PathReader? {
        switch handler {
        case Self.unknown: nil
        case Self.other: .user(Account(unlisted: 61_300, called: "wb-a", home: "/"))
        default: .daemon
        }
    }
}

@Suite("Conditions")
struct ConditionWatchesTests {
    private let all = Condition.plain + [.mount("/data"), .unlocked("/data", by: Readers.own)]

    @Test("each condition is reported within the call that opens it, and never again while it stays as it is")
    func atOnce() throws {
        let bench = try ConditionBench()
        for condition in all {
            bench.open(condition)
            #expect(bench.told[condition]?.count == 1, "\(condition.word)")
            #expect(bench.watches.isTrue(condition) == bench.last(condition))
        }
        _ = try bench.loop.turn(for: .milliseconds(100)) { false }
        for (condition, reports) in bench.told {
            #expect(zip(reports, reports.dropFirst()).allSatisfy { $0 != $1 }, "\(condition.word): \(reports)")
        }
        #expect(bench.watches.isTrue(.mount("/elsewhere")) == nil)
    }

    @Test("a machine without battery, sensors and heat has power, is steady and is cool")
    func bare() throws {
        let bench = try ConditionBench { places, directory in
            (places.powerSupplies, places.voltage, places.heat) = (directory, directory, directory)
        }
        for condition in [Condition.power, .steady, .cool] {
            bench.open(condition)
            #expect(bench.last(condition) == true, "\(condition.word)")
        }
    }

    @Test("a condition whose source cannot be opened counts as its kind demands, and is watched once it can be")
    func missing() throws {
        let bench = try ConditionBench { places, directory in
            places.mounts = "\(directory)/mountinfo"
            places.stateDirectory = "\(directory)/state"
        }
        bench.open(.mount("/proc"))
        bench.open(.storage)
        #expect(bench.told == [.mount("/proc"): [false], .storage: [true]])
        symlink("/proc/self/mountinfo", "\(bench.directory)/mountinfo")
        #expect(try bench.becomes(.mount("/proc"), true))
        mkdir("\(bench.directory)/state", 0o755)
        #expect(bench.last(.storage) == true)
    }

    @Test("a mount is told of when it comes and when it goes", .enabled(if: Machine.makesNamespaces, "needs root"))
    func mounts() throws {
        let bench = try ConditionBench()
        let place = "\(bench.directory)/a disk"
        mkdir(place, 0o755)
        bench.open(.mount(place))
        #expect(bench.told == [.mount(place): [false]])
        try mount(place)
        defer { umount2(place, Int32(MNT_DETACH)) }
        #expect(try bench.becomes(.mount(place), true))
        #expect(umount(place) == 0)
        #expect(try bench.becomes(.mount(place), false))
        #expect(bench.told == [.mount(place): [false, true, false]])
    }

    private func mount(_ place: String, _ options: String = "size=1m") throws {
        let words = ["mount", "-t", "tmpfs", "-o", options, "wakebridge", place]
        try #require(try Child(words).finish().exit == 0)
    }

    @Test("a file is unlocked while it can be read: it appears, its mode closes and opens it, it is moved away")
    func unlocked() throws {
        // So long that only what tells of changes can be the cause.
        let bench = try ConditionBench { places, _ in places.intervals.look = .seconds(3_600) }
        let file = "\(bench.directory)/locked/secret/key"
        let condition = Condition.unlocked(file, by: Readers.own)
        bench.open(condition)
        #expect(bench.last(condition) == false)
        mkdir("\(bench.directory)/locked", 0o755)
        _ = try bench.loop.turn(for: .milliseconds(50)) { false }
        mkdir("\(bench.directory)/locked/secret", 0o755)
        put("key", at: file)
        #expect(try bench.becomes(condition, true))
        chmod(file, 0o000)
        #expect(try bench.becomes(condition, false))
        chmod(file, 0o400)
        #expect(try bench.becomes(condition, true))
        rename("\(bench.directory)/locked", "\(bench.directory)/away")
        #expect(try bench.becomes(condition, false))
        rename("\(bench.directory)/away", "\(bench.directory)/locked")
        #expect(try bench.becomes(condition, true))
    }

    @Test(
        "a path is unlocked for the handlers whose users can read it, and for no other",
        .enabled(if: Machine.isRoot, "needs root"))
    func unlockedForUser() throws {
        let bench = try ConditionBench()
        chmod(bench.directory, 0o755)
        let key = "\(bench.directory)/key"
        put("key", at: key)
        chmod(key, 0o600)
        let (own, other) = (Condition.unlocked(key, by: Readers.own), Condition.unlocked(key, by: Readers.other))
        let nobody = [Condition.unlocked(key, by: Readers.unknown), .unlocked(key)]
        for condition in [own, other] + nobody { bench.open(condition) }
        #expect(try bench.becomes(own, true))
        chmod(key, 0o644)
        #expect(try bench.becomes(other, true))
        #expect(bench.told[other] == [false, true] && bench.told[own] == [false, true])
        chown(key, 61_300, 0)
        chmod(bench.directory, 0o700)
        #expect(try bench.becomes(other, false))
        #expect(bench.last(own) == true && nobody.allSatisfy { bench.told[$0] == [false] })
    }

    @Test("what is watched for a path is let go of after the last handler, while others go on")
    func letGo() throws {
        let bench = try ConditionBench { places, _ in places.intervals.look = .seconds(3_600) }
        let source = UnlockedSource(on: bench.loop, bench.places)
        var told: [HandlerID: [Bool]] = [:]
        for name in ["a", "b"] { mkdir("\(bench.directory)/\(name)", 0o755) }
        for (handler, name) in [(Readers.own, "a"), (HandlerID(rawValue: 4), "b")] {
            let watch = ConditionWatch()
            watch.add(.agenda) { told[handler, default: []].append($0) }
            try source.join("\(bench.directory)/\(name)/key", for: handler, watch)
        }
        put("key", at: "\(bench.directory)/a/key")
        #expect(try bench.loop.turn(for: .seconds(30)) { told[Readers.own] == [false, true] })
        source.leave("\(bench.directory)/b/key", for: HandlerID(rawValue: 4))
        unlink("\(bench.directory)/a/key")
        #expect(try bench.loop.turn(for: .seconds(30)) { told[Readers.own] == [false, true, false] })
        #expect(source.isOpen)
        source.leave("\(bench.directory)/a/key", for: Readers.own)
        #expect(try bench.loop.turn(for: .seconds(30)) { !source.isOpen })
        #expect(told[HandlerID(rawValue: 4)] == [false])
    }

    @Test(
        "what a mount covers or brings is told of, though no folder changes",
        .enabled(if: Machine.makesNamespaces, "needs root"))
    func covered() throws {
        let bench = try ConditionBench { places, _ in places.intervals.look = .seconds(3_600) }
        // Where no other test makes or removes anything, which would be told of too.
        let quiet = makeDirectory("/srv/wakebridge-conditions-XXXXXX")
        defer { Directory.removeTree(quiet) }
        let place = "\(quiet)/disk"
        mkdir(place, 0o755)
        put("key", at: "\(place)/key")
        let condition = Condition.unlocked("\(place)/key", by: Readers.own)
        bench.open(condition)
        #expect(try bench.becomes(condition, true))
        try mount(place)
        defer { umount2(place, Int32(MNT_DETACH)) }
        #expect(try bench.becomes(condition, false))
        #expect(umount(place) == 0)
        #expect(try bench.becomes(condition, true))
    }

    @Test(
        "a file system that fills up has no storage, until it is cleared",
        .enabled(if: Machine.makesNamespaces, "needs root"))
    func storage() throws {
        let bench = try ConditionBench { places, directory in places.stateDirectory = "\(directory)/state" }
        mkdir("\(bench.directory)/state", 0o755)
        try mount("\(bench.directory)/state", "size=110m")
        defer { umount2("\(bench.directory)/state", Int32(MNT_DETACH)) }
        bench.open(.storage)
        #expect(bench.last(.storage) == true)
        put([UInt8](repeating: 1, count: 11 << 20), at: "\(bench.directory)/state/full")
        #expect(try bench.becomes(.storage, false))
        unlink("\(bench.directory)/state/full")
        #expect(try bench.becomes(.storage, true))
    }

    @Test("two readers of one condition share its watch, and it is closed with the last of them")
    func shared() throws {
        let bench = try ConditionBench { places, directory in places.heat = directory }
        let zone = "\(bench.directory)/thermal_zone0"
        mkdir(zone, 0o755)
        put("hot\n", at: "\(zone)/trip_point_0_type")
        put("80000\n", at: "\(zone)/trip_point_0_temp")
        put("81000\n", at: "\(zone)/temp")
        var core: [Bool] = []
        bench.watches.open(.cool, for: .core) { core.append($0) }
        #expect(core == [false] && bench.watches.found.isEmpty, "the agenda has not opened it")
        bench.open(.cool)
        #expect(bench.last(.cool) == false)
        put("60000\n", at: "\(zone)/temp")
        #expect(try bench.becomes(.cool, true))
        #expect(core == [false, true])
        bench.watches.close(.cool, for: .core)
        #expect(bench.watches.isTrue(.cool) == true)
        bench.watches.close(.cool)
        #expect(bench.watches.isTrue(.cool) == nil)
    }

    @Test("a hot zone is told of while it is watched, and that it has cooled")
    func heat() throws {
        let bench = try ConditionBench { places, directory in places.heat = directory }
        let zone = "\(bench.directory)/thermal_zone0"
        mkdir(zone, 0o755)
        put("hot\n", at: "\(zone)/trip_point_0_type")
        put("80000\n", at: "\(zone)/trip_point_0_temp")
        put("81000\n", at: "\(zone)/temp")
        bench.open(.cool)
        #expect(bench.last(.cool) == false)
        put("60000\n", at: "\(zone)/temp")
        #expect(try bench.becomes(.cool, true))
        put("80000\n", at: "\(zone)/temp")
        #expect(try bench.becomes(.cool, false))
    }
}

extension ConditionWatchesTests {
    @Test("nothing is open while no condition is; what is opened for one is closed with it, alone and all together")
    func descriptors() throws {
        // In a process of its own: other tests open and close theirs meanwhile.
        let probe = try Child(["\(Built.folder)/ConditionProbe", "descriptors"]).finish()
        let lines = probe.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(probe.exit == 0 && lines.count == all.count + 2, "\(probe)")
        let before = lines[0][1]
        for line in lines { #expect(line.last == before, "\(line)") }
        let holding = lines.filter { $0.count == 3 && $0[1] != before }.map { $0[0] }
        for word in ["network", "mount:/data", "unlocked:/data/key", "all"] { #expect(holding.contains(word)) }
    }
}
