// A small file of lines in the state directory, which people can read and edit. Lines that cannot be read are kept.
import WakeModel
import WakeSystem

public struct LineFileStore {
    public let path: String
    private let log: Log
    /// Lines that could not be read, as they are. They are written again with all the others.
    private var unread: [ArraySlice<UInt8>] = []
    /// Why the file is not written: it can be neither read nor moved aside.
    private var obstacle: SystemError?

    /// More than the bridge ever writes.
    private static let mostBytes = 32 << 20
    private static let mostReported = 8

    public init(_ path: String, _ log: Log) {
        self.path = path
        self.log = log
    }

    /// Hands each line to `add`, which returns why it cannot be read, or nil. A file of which nothing can be read is moved aside.
    /// - Parameter loss: what that means, for the log.
    public mutating func read(_ loss: String, _ add: (ArraySlice<UInt8>) -> String?) {
        guard File.exists(path) else { return }
        var complaints: [String] = []
        do throws(SystemError) {
            let lines = try File.bytes(at: path, limit: Self.mostBytes).split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            var known = 0
            for (index, line) in lines.enumerated() where line.contains(where: { $0 > UInt8(ascii: " ") }) {
                if let reason = add(line) {
                    unread.append(line)
                    complaints.append("line \(index + 1) of \(path) cannot be read: \(reason)")
                } else {
                    known += 1
                }
            }
            guard known == 0, let first = complaints.first else { return report(complaints) }
            unread = []
            moveAside(first, loss)
        } catch {
            moveAside(error.description, loss)
        }
    }

    private func report(_ complaints: [String]) {
        for complaint in complaints.prefix(Self.mostReported) {
            log.error("\(complaint); it is kept as it is: correct it while the bridge is stopped, or remove it")
        }
        guard complaints.count > Self.mostReported else { return }
        log.error(
            "\((complaints.count - Self.mostReported).counted("more line")) of \(path) cannot be read, and kept as well"
        )
    }

    private mutating func moveAside(_ reason: String, _ loss: String) {
        var aside = path + ".unreadable"
        for number in 2...1_000 where File.exists(aside) { aside = "\(path).unreadable.\(number)" }
        do throws(SystemError) {
            try File.move(path, to: aside)
            log.error(
                "\(reason); \(loss), and the file was moved to \(aside): to restore it, stop the bridge, correct it and move it "
                    + "back")
        } catch {
            obstacle = error
            log.error("\(reason); \(loss), and nothing is kept while the file is there: \(error.description)")
        }
    }

    public func write(_ lines: [String]) throws(SystemError) {
        if let obstacle { throw obstacle }
        let bytes = lines.flatMap { $0.utf8 + [UInt8(ascii: "\n")] } + unread.flatMap { $0 + [UInt8(ascii: "\n")] }
        try File.replace(path, with: bytes, mode: 0o600)
    }
}
