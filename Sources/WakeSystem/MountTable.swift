// The mount points that /proc/self/mountinfo lists, and a report of each change.
import Glibc

/// Watch `raw` for `priority`.
public struct MountTable: ~Copyable {
    public static let file = "/proc/self/mountinfo"

    private let table: FileDescriptor
    public var raw: Int32 { table.raw }

    public init(_ file: String = file) throws(SystemError) { table = try File.open(file, for: .read) }

    /// The paths among these, written plainly, that are mount points. Links on the way are not followed: following one
    /// into a file system whose server is away would block.
    public borrowing func mounted(among paths: some Collection<String>) throws(SystemError) -> Set<String> {
        let wanted = Set(paths)
        let lines = try table.contents().split(separator: UInt8(ascii: "\n"))
        return Set(lines.lazy.compactMap { Self.mountPoint(in: $0) }.filter(wanted.contains))
    }

    /// The fifth field, whose blanks, tabs, line ends and backslashes are written as three octal digits.
    static func mountPoint(in line: ArraySlice<UInt8>) -> String? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        return fields.count > 5 ? String(decoding: unescaped(fields[4]), as: UTF8.self) : nil
    }

    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let value = byte == UInt8(ascii: "\\") && digits.count == 3 ? octal(digits) : nil
            plain.append(value ?? byte)
            if value != nil { rest = rest.dropFirst(3) }
        }
        return plain
    }

    private static func octal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
