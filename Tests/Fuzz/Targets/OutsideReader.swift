// Every reader of bytes from outside, by the name under which it is fuzzed.

/// Reads an input to its end, as the bridge would. One that traps, hangs or eats memory has a fault.
public protocol OutsideReader: Sendable {
    /// Lower case with hyphens: `import-btsnoop`.
    var name: String { get }
    /// What fuzzing begins with beside Tests/Fuzz/seeds, as patterns of a shell: in this checkout, or below `captures/`.
    var files: [String] { get }
    /// The inputs that it begins with beside these files, made when it is fuzzed.
    func beginnings() throws -> [[UInt8]]
    /// False for an input that another reader would get: the fuzzer does not keep it.
    func read(_ bytes: [UInt8]) -> Bool
    /// Whether it is a whole input of this reader, as each seed is.
    func accepts(_ bytes: [UInt8]) -> Bool
}

extension OutsideReader {
    public func accepts(_ bytes: [UInt8]) -> Bool { read(bytes) }
    public var files: [String] { [] }
    public func beginnings() -> [[UInt8]] { [] }
}

extension OutsideReader where Self: RawRepresentable, RawValue == String {
    public var name: String { rawValue }
}

public enum FuzzTable {
    public static let all: [any OutsideReader] = {
        let groups: [[any OutsideReader]] = [
            ImportTarget.allCases, TraceTarget.allCases, ConfigurationTarget.allCases, DecoderTarget.allCases,
            DeviceTarget.allCases, LineTarget.allCases, KernelTarget.allCases,
        ]
        return Array(groups.joined())
    }()

    public static func reader(named name: String) -> (any OutsideReader)? { all.first { $0.name == name } }
}
