// A network of a test's own, in which it can make links and routes without any effect on the machine's.
import Glibc
import WakeSystem

/// Lasts until it is left: for the calling thread, and for the programs that it starts meanwhile.
package final class OwnNetwork {
    private let before: Int32
    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Return = @convention(c) (Int32, Int32) -> Int32
    private static let newNetwork: Int32 = 0x4000_0000

    /// The caller stays on this thread, without awaiting anything, until it has called ``leave()``.
    package init() throws {
        before = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        guard before >= 0, let call = dlsym(nil, "unshare"),
            unsafeBitCast(call, to: Unshare.self)(Self.newNetwork) == 0
        else { throw SystemError("make", "a network namespace", .last) }
    }

    /// Runs `ip` with these words.
    package func ip(_ words: String) throws {
        let (exit, _, talk) = try Child(["ip"] + words.split(separator: " ").map(String.init)).finish()
        guard exit == 0 else { throw SystemError("run", "ip \(words): \(talk)", .invalid) }
    }

    package func leave() {
        if let call = dlsym(nil, "setns") { _ = unsafeBitCast(call, to: Return.self)(before, Self.newNetwork) }
        close(before)
    }
}
