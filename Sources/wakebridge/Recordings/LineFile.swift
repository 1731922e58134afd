// Writes lines to a file, buffered, because a trace at full speed makes a million lines a second.
import WakeSystem

final class LineFile {
    private let file: FileDescriptor
    private let name: String
    private var gathered: [UInt8] = []
    private static let chunk = 64 << 10

    /// Writes to `path`, which is created or emptied.
    convenience init(_ path: String) throws(SystemError) {
        self.init(try File.open(path, for: .replace), called: path)
    }

    private init(_ file: consuming FileDescriptor, called name: String) {
        self.file = file
        self.name = name
    }

    /// Standard output; the tool writes to it through one of these or through ``Console``, never through both.
    static func standardOutput() throws(SystemError) -> LineFile {
        LineFile(try FileDescriptor.duplicate(of: 1), called: Output.standard)
    }

    func write(_ lines: [UInt8]) {
        gathered.append(contentsOf: lines)
        if gathered.count >= Self.chunk { close() }
    }

    /// Writes a line without buffering, for a reader that waits for it.
    func writeNow(_ lines: [UInt8]) {
        gathered.append(contentsOf: lines)
        close()
    }

    /// Writes all buffered lines; more may be written afterwards.
    func close() {
        Output.write(gathered, to: file.raw, called: name)
        gathered.removeAll(keepingCapacity: true)
    }
}
