// The condition `idle`: how long it must have been calm, who disturbs it, and the kernel's own report of pressure.
import Glibc
import TestBench
import Testing
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeEngine

@Suite("The idle machine")
struct IdleConditionTests {
    private func bench(calm: TimeSpan, _ load: String) throws -> ConditionBench {
        try ConditionBench { places, directory in
            put(load, at: "\(directory)/loadavg")
            places.load = LoadPressure(root: directory, cores: 2)
            places.intervals.calm = calm
        }
    }

    private let calm = "0.10 0.00 0.00 1/100 1234\n"
    private let busy = "1.00 0.00 0.00 1/100 1234\n"

    @Test("it is idle only after it has been calm for the whole time, and the load ends that")
    func load() throws {
        let bench = try bench(calm: .milliseconds(200), calm)
        let begun = SystemClock.monotonic()
        bench.open(.idle)
        #expect(bench.last(.idle) == false, "what was before is not known")
        #expect(try bench.becomes(.idle, true))
        #expect(SystemClock.monotonic() - begun >= .milliseconds(200))
        put(busy, at: "\(bench.directory)/loadavg")
        #expect(try bench.becomes(.idle, false))
        put(calm, at: "\(bench.directory)/loadavg")
        #expect(try bench.becomes(.idle, true))
    }

    @Test("a person who attaches ends it at once, and the whole time counts again from when none is attached")
    func attached() throws {
        let bench = try bench(calm: .milliseconds(100), calm)
        bench.open(.idle)
        #expect(try bench.becomes(.idle, true))
        bench.watches.setAttached(true)
        #expect(bench.last(.idle) == false)
        _ = try bench.loop.turn(for: .milliseconds(300)) { false }
        #expect(bench.last(.idle) == false)
        let left = SystemClock.monotonic()
        bench.watches.setAttached(false)
        #expect(try bench.becomes(.idle, true))
        #expect(SystemClock.monotonic() - left >= .milliseconds(100))
    }

    @Test("a condition that opens while a person is attached knows of it")
    func attachedBefore() throws {
        let bench = try bench(calm: .zero, calm)
        bench.watches.setAttached(true)
        bench.open(.idle)
        #expect(bench.last(.idle) == false)
        bench.watches.setAttached(false)
        #expect(bench.last(.idle) == true)
    }

    @Test(
        "where the kernel reports pressure, its report alone ends the calm: nothing looks meanwhile",
        .enabled(if: PressedCgroup.isPossible, "needs cgroups with pressure figures"))
    func pressure() throws {
        let group = try PressedCgroup()
        let bench = try ConditionBench { places, directory in
            mkdir("\(directory)/pressure", 0o755)
            symlink("\(group.path)/cpu.pressure", "\(directory)/pressure/cpu")
            places.load = LoadPressure(root: directory)
            places.intervals.calm = .milliseconds(50)
            places.intervals.look = .seconds(3_600)
        }
        bench.open(.idle)
        #expect(try bench.becomes(.idle, true))
        try group.press()
        #expect(try bench.loop.turn(for: .seconds(120)) { bench.last(.idle) == false })
    }
}

/// A cgroup whose own processes wait for processors, whatever else the machine does.
final class PressedCgroup {
    let path: String
    private var runners: [Child] = []

    static let isPossible: Bool = (try? PressedCgroup()) != nil

    init() throws {
        path = "\(Machine.cgroup ?? "/nowhere")/wakebridge-pressed-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        guard mkdir(path, 0o755) == 0 else { throw SystemError("make", path, .last) }
        guard text(of: "\(path)/cpu.pressure").hasPrefix("some ") else {
            rmdir(path)
            throw SystemError("read", "\(path)/cpu.pressure", .notSupported)
        }
    }

    deinit {
        runners = []
        rmdir(path)
    }

    /// Many more want to run than can.
    func press() throws {
        let script = "echo $$ >'\(path)/cgroup.procs' && while :; do :; done"
        for _ in 0..<4 * sysconf(Int32(_SC_NPROCESSORS_ONLN)) { runners.append(try Child(["sh", "-c", script])) }
    }
}
