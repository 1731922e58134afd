// What one event of a virtual replay costs in instructions and allocations, counted by callgrind: no clock, no noise.
import Glibc
import TestBench
import WakeSystem

struct EventCount: Equatable {
    var instructions: Int
    var allocations: Int

    /// Why nothing can be counted here; nil where it can.
    static let hindrance: String? = {
        for program in ["valgrind", "objcopy"] where (try? Child([program, "--version"]))?.finish().exit != 0 {
            return "\(program) is missing; apt-get install valgrind binutils counts instructions an event"
        }
        return nil
    }()

    /// Of the tool beside these tests. Two traces are played, so that the start and what is warmed up drop out.
    static func measure() throws -> EventCount {
        let folder = makeDirectory("/tmp/wakebridge-count-XXXXXX")
        defer { Directory.removeTree(folder) }
        // valgrind reads no debug information of this size.
        let program = "\(folder)/wakebridge"
        try require(Child(["objcopy", "--strip-debug", Built.tool, program]).finish())
        // The others are read before the first event, which takes long here and is not counted.
        try require(Child(["mkdir", "\(folder)/Devices"]).finish())
        for part in ["gatt", "heart-rate-monitor"] {
            try require(Child(["cp", "-r", "\(packageFolder)/Devices/\(part)", "\(folder)/Devices"]).finish())
        }
        let (few, many) = (200, 600)
        let short = try count(program, playing: few, in: folder)
        let long = try count(program, playing: many, in: folder)
        guard long.instructions > short.instructions else { throw Failure("callgrind counted nothing: \(long)") }
        return EventCount(
            instructions: (long.instructions - short.instructions) / (many - few),
            allocations: (long.allocations - short.allocations) / (many - few))
    }

    private static func count(_ program: String, playing events: Int, in folder: String) throws -> EventCount {
        let (trace, counts) = ("\(folder)/\(events).trace", "\(folder)/\(events).callgrind")
        put(header + String(repeating: line, count: events) + "end\n", at: trace)
        let run = try Child([
            "env", "WAKEBRIDGE_DEVICES=\(folder)/Devices", "SWIFT_DETERMINISTIC_HASHING=1", "valgrind",
            "--tool=callgrind", "--callgrind-out-file=\(counts)", program, "replay", "--speed", "max", trace,
        ]).finish()
        try require(run)
        guard run.output.split(separator: "\n").count > events else { throw Failure("the replay lost events") }
        let sums = try Child(["awk", sums, counts]).finish()
        let numbers = sums.output.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }
        guard numbers.count == 2 else { throw Failure("callgrind's file cannot be read: \(sums.output)\(sums.talk)") }
        return EventCount(instructions: numbers[0], allocations: numbers[1])
    }

    private static func require(_ run: (exit: Int32, output: String, talk: String)) throws {
        guard run.exit == 0 else { throw Failure(run.talk) }
    }

    private static let header = """
        wakebridge-trace 1
        clock 2026-11-21T07:42:46.727125Z
        device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap" service=180d
        +0.000000 1 connect

        """
    private static let line = "+0.001000 1 data 2a37 163cf803\n"

    /// A name is given once, beside its number; calls follow the name of what is called.
    private static let sums = #"""
        /^c?fn=/ {
            id = $1
            sub(/^c?fn=/, "", id)
            if (NF > 1) names[id] = $2
            if ($1 ~ /^c/) called = names[id]
        }
        /^calls=/ && called ~ /^(malloc|calloc|realloc|posix_memalign|aligned_alloc)$/ {
            sub(/^calls=/, "", $1)
            allocations += $1
        }
        /^(summary|totals):/ { instructions = $2 }
        # As it stands there: a %d of some awks ends at 31 bits.
        END { printf "%s %d", instructions, allocations }
        """#
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
