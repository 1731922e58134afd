// The run: each measurement in its turn, told as soon as it is made, and all of them as JSON and as a picture at the end.
import BenchmarkProbe
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct Suite {
    private let options: Options

    init(_ options: Options) { self.options = options }

    /// What one measurement contributes.
    struct Findings {
        var sections: [Section] = []
        var charts: [Chart] = []
    }

    func run() throws {
        Signals.ignoreBrokenPipes()
        _ = benchmark_open_many()
        var report = Report(date: SystemClock.wall().rfc3339, machine: .here())
        if !options.isJSON { say(TextTable.opening(report)) }
        for part in options.parts {
            say("benchmarks: \(part.rawValue)", to: 2)
            let found = findings(of: part)
            report.sections += found.sections
            report.charts += found.charts
            if !options.isJSON { for section in found.sections { say(TextTable.written(section)) } }
        }
        report.machine.loadAfter = Machine.load()
        if options.isJSON { try writeAll(JSONReport.written(report)) }
        if let file = options.markdownFile {
            try File.replace(file, with: Array(MarkdownTable.written(report).utf8), mode: 0o644)
        }
        try draw(report)
    }

    /// What fails takes nobody else's figures with it.
    private func findings(of part: Options.Part) -> Findings {
        do { return try measure(part) } catch {
            let figure = Figure.missing(part.rawValue, .times, because: "\(error)")
            return Findings(sections: [Section(part.rawValue, method: "not measured", [figure])])
        }
    }

    private func measure(_ part: Options.Part) throws -> Findings {
        switch part {
        case .latency: try Latency(rounds: options.rounds).measure()
        case .path: try PathFigures(orderFile: options.orderFile).measure()
        case .throughput: try Throughput(events: options.events).measure()
        case .scale: try ScaleFigures().measure()
        case .budget: try BudgetFigures().measure()
        case .replay: try ReplayFigures(events: options.events).measure()
        case .start: try StartFigures().measure()
        case .idle: try IdleFigures(time: options.idle).measure()
        case .bluetooth: try BluetoothFigures(rounds: options.rounds).measure()
        case .broadcasts: try BroadcastFigures(rounds: options.rounds).measure()
        case .pages: try PageFigures(rounds: options.rounds).measure()
        case .transfers: try TransferFigures(rounds: options.rounds).measure()
        }
    }

    private func draw(_ report: Report) throws {
        guard let file = try options.pictureFile, !report.charts.isEmpty else { return }
        let caption =
            "\(report.date.prefix(10)), \(report.machine.processor), \(report.machine.cores) cores, "
            + "Linux \(report.machine.kernel)"
        try File.replace(file, with: Array(Drawing.svg(report.charts, caption: caption).utf8), mode: 0o644)
        say("benchmarks: drawn: \(file)", to: 2)
    }

    private func writeAll(_ bytes: [UInt8]) throws {
        let stream = try FileDescriptor.duplicate(of: 1)
        var written = 0
        while written < bytes.count {
            guard case .wrote(let count) = try stream.write(bytes, from: written) else {
                throw Failure("the report cannot be written")
            }
            written += count
        }
    }
}

extension Machine {
    static func here() -> Machine {
        let information = (try? File.text(at: "/proc/cpuinfo")) ?? ""
        let name = information.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }
        let processor = name?.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown processor"
        let memory = (try? File.text(at: "/proc/meminfo"))?.number("MemTotal") ?? 0
        let kernel = ((try? File.text(at: "/proc/sys/kernel/osrelease")) ?? "").prefix { $0 != "\n" }
        return Machine(
            processor: processor, cores: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), memoryMegabytes: memory / 1024,
            kernel: String(kernel), loadBefore: load(), loadAfter: 0)
    }

    /// The average of the last minute.
    static func load() -> Double {
        let text = (try? File.text(at: "/proc/loadavg")) ?? ""
        return text.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }
}
