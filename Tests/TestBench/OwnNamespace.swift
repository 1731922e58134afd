// A network or a host name of a test's own, which it can change without any effect on the machine's.
import Glibc
import WakeSystem

/// Lasts until it is left: for the calling thread, and for the programs that it starts meanwhile.
package final class OwnNamespace {
    package enum Kind: String {
        case network = "net"
        case hostName = "uts"

        fileprivate var flag: Int32 {
            switch self {
            case .network: 0x4000_0000
            case .hostName: 0x0400_0000
            }
        }
    }

    private let kind: Kind
    private let before: Int32
    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Return = @convention(c) (Int32, Int32) -> Int32

    /// The caller stays on this thread, without awaiting anything, until it has called ``leave()``.
    package init(_ kind: Kind) throws {
        self.kind = kind
        before = open("/proc/thread-self/ns/\(kind.rawValue)", O_RDONLY | O_CLOEXEC)
        guard before >= 0, let call = dlsym(nil, "unshare"), unsafeBitCast(call, to: Unshare.self)(kind.flag) == 0
        else { throw SystemError("make", "a namespace of the kind \(kind.rawValue)", .last) }
    }

    package func leave() {
        if let call = dlsym(nil, "setns") { _ = unsafeBitCast(call, to: Return.self)(before, kind.flag) }
        close(before)
    }

    /// Runs `ip` with these words.
    package func ip(_ words: String) throws {
        let (exit, _, talk) = try Child(["ip"] + words.split(separator: " ").map(String.init)).finish()
        guard exit == 0 else { throw SystemError("run", "ip \(words): \(talk)", .invalid) }
    }
}
