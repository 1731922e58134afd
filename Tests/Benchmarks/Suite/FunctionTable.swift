// The functions of a running program by the addresses of their code, as `nm` knows them.
import WakeSystem

struct FunctionTable {
    private struct Function {
        let start: UInt64
        let size: UInt64
        let name: String
    }

    private let functions: [Function]
    private let code: Mapping

    init(of pid: Int32) throws {
        let program = try File.linkTarget(of: "/proc/\(pid)/exe")
        code = try Mapping(of: program, in: pid)
        let folder = try MemoryFolder.make()
        defer { Directory.removeTree(folder) }
        let (list, log) = (folder + "/symbols", folder + "/log")
        let words = ["sh", "-c", "exec nm --defined-only --print-size \"$0\" >\"$1\"", program, list]
        Program.awaitEnd(of: try Program.start(words, input: 0, log: log), patience: .seconds(60))
        functions = try File.text(at: list).split(separator: "\n").compactMap(Self.function).sorted {
            $0.start < $1.start
        }
        guard !functions.isEmpty else {
            let said = ((try? File.text(at: log)) ?? "").split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw Failure("nm names no functions of \(program)\(said)")
        }
    }

    private static func function(_ line: Substring) -> Function? {
        let words = line.split(separator: " ")
        guard words.count == 4, "tTwW".contains(words[2]), let start = UInt64(words[0], radix: 16),
            let size = UInt64(words[1], radix: 16)
        else { return nil }
        return Function(start: start, size: size, name: String(words[3]))
    }

    /// Each once, in the order of their first instruction, but for what libraries execute.
    func names(of addresses: [UInt64]) -> [String] {
        var seen: Set<Int> = []
        return addresses.filter { $0 >= code.start && $0 < code.end }.compactMap { place(of: $0 - code.start) }
            .filter { seen.insert($0).inserted }.map { functions[$0].name }
    }

    private func place(of offset: UInt64) -> Int? {
        var (low, high) = (0, functions.count)
        while low < high {
            let middle = (low + high) / 2
            if functions[middle].start <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0, offset < functions[low - 1].start + functions[low - 1].size else { return nil }
        return low - 1
    }
}
