// Open pages beside a measured daemon: a program that follows its events over TCP, ten times at once.
import Glibc
import WakeModel
import WakeSystem

/// Where a daemon serves its page, and what opens it.
struct PageSite {
    let port: UInt16
    let token: String

    static let port: UInt16 = 48_787
    /// The settings of a daemon that serves it.
    static let settings = #"{ web: { listen: "127.0.0.1:\#(port)" } }"#

    /// - Parameter folder: of a daemon that has these settings and runs.
    init(of folder: DaemonFolder) throws {
        let socket = folder.path + "/run/control.sock"
        let words = ["--socket", socket, "web", "--token", "bench", "--role", "read", "--json"]
        let said = try Program.output(of: [try Places.sibling("wakebridge")] + words)
        let answer = try JSONValue(parsing: Array(said.utf8))
        guard let token = answer["token"]?.string else { throw Failure("the daemon made no token: \(answer)") }
        (port, self.token) = (Self.port, token)
    }
}

final class PageVisitors {
    private let pid: Int32
    private let line: FileDescriptor

    /// Returns once each of them is answered.
    init(_ count: Int, of site: PageSite, in folder: String) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("make", "a socket pair", .last) }
        line = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        let words = [try Places.python(), try Places.peer("pages.py"), "\(site.port)", site.token, "\(count)"]
        let log = folder + "/pages.log"
        pid = try Program.start(words, input: theirs.raw, log: log)
        guard isReady else {
            leave()
            let said = ((try? File.text(at: log)) ?? "").split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw Failure("\(count) pages were not answered within 10 s\(said)")
        }
    }

    private var isReady: Bool {
        var ready = pollfd(fd: line.raw, events: Int16(POLLIN), revents: 0)
        var said: [UInt8] = []
        guard poll(&ready, 1, 10_000) == 1, case .bytes = try? line.read(appendingTo: &said, limit: 16) else {
            return false
        }
        return true
    }

    func leave() {
        shutdown(line.raw, Int32(SHUT_RDWR))
        Program.awaitEnd(of: pid)
    }
}
