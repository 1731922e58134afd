// A small file of lines in the state directory, which people can read and mend: what of it cannot be read is never written over.
import WakeModel
import WakeSystem

struct LineBook {
    let path: String
    private let log: Log
    /// As they stood; they are written again with all the others.
    private var unread: [ArraySlice<UInt8>] = []
    /// Why the file is left as it is: it cannot be read, nor moved aside.
    private var obstacle: SystemError?

    /// Larger than any that was written.
    private static let mostBytes = 32 << 20
    private static let mostTold = 8

    init(_ path: String, _ log: Log) {
        self.path = path
        self.log = log
    }

    /// Hands each line to `take`, which says why it cannot be read, if it cannot. A file of which nothing can be read is moved
    /// aside; `loss` tells what that means.
    mutating func read(_ loss: String, _ take: (ArraySlice<UInt8>) -> String?) {
        guard File.exists(path) else { return }
        var complaints: [String] = []
        do throws(SystemError) {
            let lines = try File.bytes(at: path, limit: Self.mostBytes).split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            var known = 0
            for (index, line) in lines.enumerated() where line.contains(where: { $0 > UInt8(ascii: " ") }) {
                if let reason = take(line) {
                    unread.append(line)
                    complaints.append("line \(index + 1) of \(path) cannot be read: \(reason)")
                } else {
                    known += 1
                }
            }
            guard known == 0, let first = complaints.first else { return tell(complaints) }
            unread = []
            moveAside(first, loss)
        } catch {
            moveAside(error.description, loss)
        }
    }

    private func tell(_ complaints: [String]) {
        for complaint in complaints.prefix(Self.mostTold) {
            log.error("\(complaint); it is kept as it is: mend it while the bridge is stopped, or remove it")
        }
        guard complaints.count > Self.mostTold else { return }
        log.error(
            "\((complaints.count - Self.mostTold).counted("more line")) of \(path) cannot be read, and kept as well")
    }

    private mutating func moveAside(_ reason: String, _ loss: String) {
        var aside = path + ".unreadable"
        for number in 2...1_000 where File.exists(aside) { aside = "\(path).unreadable.\(number)" }
        do throws(SystemError) {
            try File.move(path, to: aside)
            log.error(
                "\(reason); \(loss), and the file was moved to \(aside): to have it back, stop the bridge, mend it and move it "
                    + "to where it was")
        } catch {
            obstacle = error
            log.error("\(reason); \(loss), and nothing is kept while the file is there: \(error.description)")
        }
    }

    func write(_ lines: [String]) throws(SystemError) {
        if let obstacle { throw obstacle }
        let bytes = lines.flatMap { $0.utf8 + [UInt8(ascii: "\n")] } + unread.flatMap { $0 + [UInt8(ascii: "\n")] }
        try File.replace(path, with: bytes, mode: 0o600)
    }
}
