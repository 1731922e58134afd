// Which user a program that moves files runs as.
import Glibc
import Testing
import WakeSystem

@testable import WakeDaemon

@Suite("The user of transfers")
struct TransferUserTests {
    private let other = Account(unlisted: geteuid() + 1, called: "other", home: "/")

    @Test("another user's program is told which user to become, and the daemon's own nothing")
    func words() {
        let number = geteuid() + 1
        #expect(TransferUser(other).words == ["--user=\(number)", "--group=\(number)", "--groups=\(number)"])
        #expect(TransferUser(nil).words == [])
    }

    @Test("one user with other groups has a program of its own, with a socket and a lock of its own")
    func labels() throws {
        let (root, joined) = (try Account(named: "root"), try other.joining(["root"]))
        #expect(joined.groups.count == 2)
        let labels = [other, joined].map { TransferUser($0).label }
        #expect(labels[0] == "\(other.user)-\(other.group)" && labels[1].hasPrefix(labels[0] + "-"))
        #expect(root.isCurrent == (TransferUser(root).label == "\(geteuid())"))
    }
}
