// One wake of a bridge, one instruction at a time: which addresses it executes from its device's read to the thaw.
import BenchmarkProbe
import Glibc
import WakeSystem

/// The steadiest witness of what a wake costs: processor time moves with what else the machine does, and this does not.
struct Steps {
    private static let most = 1 << 20

    /// In the order of their execution.
    let addresses: [UInt64]

    var instructions: Int { addresses.count }
    /// Of 64 bytes, as a cache holds them.
    var lines: Int { Set(addresses.map { $0 >> 6 }).count }
    /// Of 4 KiB.
    var pages: Int { Set(addresses.map { $0 >> 12 }).count }

    /// Of the wake that `stimulate` causes once the process stands still. Nil where that thawed nobody.
    init?(through pid: Int32, causedBy stimulate: () throws -> Void) throws {
        let failure = benchmark_halt(pid)
        guard failure == 0 else { throw SystemError("trace", "process \(pid)", Errno(code: -failure)) }
        defer { benchmark_resume(pid) }
        try stimulate()
        let clock = try Mapping(of: "[vdso]", in: pid)
        var range = benchmark_clock(start: clock.start, end: clock.end)
        var places = [UInt64](repeating: 0, count: Self.most)
        let count = benchmark_step(pid, &range, &places, Int64(Self.most))
        guard count != -Int64(EAGAIN) else { return nil }
        guard count >= 0 else { throw Failure(Self.sentence(Int32(-count), pid)) }
        addresses = Array(places.prefix(Int(count)))
    }

    private static func sentence(_ code: Int32, _ pid: Int32) -> String {
        switch code {
        case ENOSYS: "only x86-64 is stepped through"
        case ENOBUFS: "process \(pid) thawed nobody within \(most) instructions"
        case ESRCH: "process \(pid) ended while it was stepped through"
        default: SystemError("step through", "process \(pid)", Errno(code: code)).description
        }
    }
}

/// Where a file, or what the kernel calls by a name, lies in a process.
struct Mapping {
    let start: UInt64
    let end: UInt64

    init(of name: String, in pid: Int32) throws {
        let lines = try File.text(at: "/proc/\(pid)/maps").split(separator: "\n").filter { $0.hasSuffix(name) }
        let bounds = lines.flatMap { line in
            line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
        }
        (start, end) = (bounds.first ?? 0, bounds.last ?? 0)
    }
}
