// What the command line asks for.
import BenchmarkProbe
import WakeModel
import WakeSystem

struct Options {
    /// The measurements, in the order in which they are made.
    enum Part: String, CaseIterable {
        case latency, path, throughput, scale, budget, replay, start, idle, bluetooth, broadcasts, pages, transfers
    }

    private(set) var parts: [Part] = []
    private(set) var rounds = 20
    private(set) var events = 200_000
    private(set) var idle = TimeSpan.seconds(60)
    private(set) var isJSON = false
    /// Where the tables go as the documentation shows them.
    private(set) var markdownFile: String?
    /// Where the functions on the way of a wake are listed.
    private(set) var orderFile: String?
    private var picture: String?

    private static let usage = """
        none of \(Part.allCases.map(\.rawValue).joined(separator: ", ")), --rounds N, --events N, --idle SECONDS, \
        --json, --picture, --svg FILE, --markdown FILE, --order FILE, --precedence
        """

    init(_ words: [String]) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--precedence": try Self.takePrecedence()
            case "--json": isJSON = true
            case "--rounds": rounds = try Self.number(of: word, &rest)
            case "--events": events = try Self.number(of: word, &rest)
            case "--idle": idle = .seconds(Int64(try Self.number(of: word, &rest)))
            case "--picture": picture = try Places.checkout() + "/docs/pictures/performance.svg"
            case "--svg": picture = try Self.file(of: word, &rest)
            case "--order": orderFile = try Self.file(of: word, &rest)
            case "--markdown": markdownFile = try Self.file(of: word, &rest)
            default:
                guard let part = Part(rawValue: word) else { throw Failure("\"\(word)\" is \(Self.usage)") }
                parts.append(part)
            }
        }
        if parts.isEmpty { parts = Part.allCases }
        if orderFile != nil, !parts.contains(.path) { throw Failure("--order goes with path") }
    }

    /// The picture of the documentation is drawn only if `--picture` asks for it. A whole run draws beside what was compiled for
    /// it, so that it leaves the checkout as it was, and a part of one draws only what is asked for.
    var pictureFile: String? {
        get throws {
            if let picture { return picture }
            return parts == Part.allCases ? try Places.checkout() + "/.build/bench/performance.svg" : nil
        }
    }

    private static func file(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let file = rest.popFirst() else { throw Failure("\(option) takes a file") }
        return file
    }

    private static func number(of option: String, _ rest: inout ArraySlice<String>) throws -> Int {
        guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
            throw Failure("\(option) takes a number")
        }
        return count
    }

    private static func takePrecedence() throws(SystemError) {
        let code = benchmark_take_precedence()
        if code < 0 { throw SystemError("take precedence over", "other work", Errno(code: -code)) }
    }
}

/// A measurement that cannot go on.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Writes a line at once, so that a long measurement shows what it has.
func say(_ line: String, to descriptor: Int32 = 1) {
    guard let stream = try? FileDescriptor.duplicate(of: descriptor) else { return }
    _ = try? stream.write(Array((line + "\n").utf8))
}
