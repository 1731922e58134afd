// How busy the machine's processors are: the kernel's pressure figures, or the load where it keeps none.
import Glibc

public struct LoadPressure: Sendable {
    private let root: String
    private let cores: Int

    /// The share of the last ten seconds, in hundredths of a percent.
    private static let busyPressure = 1_000
    /// Tasks that run or wait, in hundredths for each core.
    private static let busyLoad = 50

    public init(root: String = "/proc", cores: Int = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
        self.root = root
        self.cores = max(cores, 1)
    }

    /// Polls `priority` at most once in ten seconds, while tasks wait for a processor for a tenth of the time. The window is a
    /// multiple of two seconds, so that no privilege is needed. Nil where the kernel does not report it.
    public func trigger() -> FileDescriptor? {
        PressureTrigger.open(
            "\(root)/pressure/cpu", stalledMicroseconds: 1_000_000, windowMicroseconds: 10_000_000)
    }

    /// Whether the processors are little used now; where nothing can be read, they are not.
    public var isCalm: Bool {
        if let waited = hundredths(in: "pressure/cpu", after: "some avg10=") { return waited < Self.busyPressure }
        guard let load = hundredths(in: "loadavg", after: "") else { return false }
        return load < Self.busyLoad * cores
    }

    /// The number with two decimals that follows the word at the file's beginning.
    private func hundredths(in file: String, after word: String) -> Int? {
        guard let text = try? File.text(at: "\(root)/\(file)"), text.hasPrefix(word) else { return nil }
        let parts = text.dropFirst(word.count).prefix { !$0.isWhitespace }.split(separator: ".")
        guard parts.count == 2, parts[1].count == 2, let whole = Int(parts[0]), let rest = Int(parts[1]) else {
            return nil
        }
        return whole * 100 + rest
    }
}
