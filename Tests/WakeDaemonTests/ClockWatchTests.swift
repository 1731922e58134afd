// The wall clock as conditions and alarms see it: that it is set, that it is kept, and the zones and their changes.
import Glibc
import TestBench
import Testing
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeEngine

/// What a clock watch told. Other tests, and the machine itself, may set the clock meanwhile.
private final class Hearer {
    private(set) var zones: [ClockWatch.Change] = []
    private(set) var sets = 0

    func hear(_ change: ClockWatch.Change) {
        switch change {
        case .set: sets += 1
        case .zone: zones.append(change)
        }
    }
}

@Suite("The wall clock")
struct ClockWatchTests {
    @Test(
        "time-synced follows what the kernel knows of the clock: kept, set by hand, kept again",
        .enabled(if: KernelClock.decides, "needs the right to set the clock, and no hardware clock"))
    func kept() throws {
        let clock = try KernelClock()
        let bench = try ConditionBench()
        let hearer = Hearer()
        let watch = try ClockWatch(on: bench.loop)
        try watch.listen(of: hearer) { hearer, change in
            hearer.hear(change)
            bench.watches.clockWasSet()
        }
        try clock.set(maxError: 16_000_000, isUnsynchronized: true)
        bench.open(.timeSynced)
        #expect(bench.last(.timeSynced) == false)
        try clock.set(maxError: 1_000, isUnsynchronized: true)
        #expect(try bench.becomes(.timeSynced, true))
        try clock.step(microseconds: 1)
        #expect(try bench.becomes(.timeSynced, false), "the kernel forgets what it knew with each set")
        #expect(hearer.sets >= 1)
        try clock.step(microseconds: -1)
        try clock.set(maxError: 1_000, isUnsynchronized: true)
        #expect(try bench.becomes(.timeSynced, true))
        #expect(try bench.loop.turn { hearer.sets >= 2 })
    }

    @Test("the system's zone is told of when it is another one, and when its rules are; other zones likewise")
    func zones() throws {
        let directory = makeDirectory("/tmp/wakebridge-zones-XXXXXX")
        defer { Directory.removeTree(directory) }
        mkdir("\(directory)/zones", 0o755)
        mkdir("\(directory)/etc", 0o755)
        for name in ["Berlin", "Apia"] { put(name, at: "\(directory)/zones/\(name)") }
        symlink("../zones/Berlin", "\(directory)/etc/localtime")
        let (loop, hearer) = (try EventLoop(), Hearer())
        let files = ZoneFiles(root: "\(directory)/zones", local: "\(directory)/etc/localtime")
        let watch = try ClockWatch(on: loop, zones: files)
        try watch.listen(of: hearer) { $0.hear($1) }
        #expect(watch.zone("localtime") == Array("Berlin".utf8))
        #expect(watch.zone("Apia") == Array("Apia".utf8))
        #expect(watch.zone("Lord_Howe") == nil && watch.zone("../etc/localtime") == nil)

        // As timedatectl does.
        symlink("../zones/Apia", "\(directory)/etc/new")
        rename("\(directory)/etc/new", "\(directory)/etc/localtime")
        #expect(try loop.turn(for: .seconds(30)) { hearer.zones == [.zone("localtime", Array("Apia".utf8))] })

        // As a new version of the package does.
        put("Apia 2", at: "\(directory)/zones/Apia.new")
        rename("\(directory)/zones/Apia.new", "\(directory)/zones/Apia")
        put("Lord_Howe", at: "\(directory)/zones/Lord_Howe")
        #expect(try loop.turn(for: .seconds(30)) { hearer.zones.count == 4 })
        let later = Set(hearer.zones.dropFirst())
        let new = Array("Apia 2".utf8)
        #expect(
            later == [.zone("localtime", new), .zone("Apia", new), .zone("Lord_Howe", Array("Lord_Howe".utf8))])

        unlink("\(directory)/zones/Lord_Howe")
        #expect(try loop.turn(for: .seconds(30)) { hearer.zones.last == .zone("Lord_Howe", nil) })

        // Of a zone that is of no use any more, nothing is told.
        watch.leaveZone("Apia")
        put("Apia 3", at: "\(directory)/zones/Apia.new")
        rename("\(directory)/zones/Apia.new", "\(directory)/zones/Apia")
        let count = hearer.zones.count
        #expect(try loop.turn(for: .seconds(30)) { hearer.zones.last == .zone("localtime", Array("Apia 3".utf8)) })
        #expect(hearer.zones.count == count + 1)
    }
}
