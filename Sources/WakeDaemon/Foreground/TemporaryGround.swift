// The temporary directory of a bridge in the foreground and the name of its cgroup. A later start sees whether their owner is
// dead, and removes them.
import Glibc
import WakeEngine
import WakeSystem

/// A process that is killed outright cleans nothing up. Its lock on the file in here goes with it, whichever process gets its
/// number next; so what is not locked has no owner.
struct TemporaryGround: ~Copyable {
    let directory: String
    let cgroupName: String
    private let lock: LockFile

    private static let prefix = "wakebridge-replay"
    private static let lockName = "/lock"
    /// Contains the path of the cgroup, which need not be below the one that a later one is started in.
    private static let cgroupFile = "/cgroup"

    static func make() throws(SystemError) -> TemporaryGround {
        clearDead()
        // Under a name that no other start removes until it is locked.
        let draft = try Directory.makeTemporary(prefix: "." + prefix)
        do throws(SystemError) { return try TemporaryGround(marking: draft) } catch {
            Directory.removeTree(draft)
            throw error
        }
    }

    private init(marking draft: String) throws(SystemError) {
        let lock = try LockFile(at: draft + Self.lockName)
        let name = "\(Self.prefix)-\(getpid())"
        if let path = try? CgroupTree.path(named: name) {
            try File.replace(draft + Self.cgroupFile, with: Array(path.utf8))
        }
        // A handler of another user has its own directory in here.
        try Directory.letThrough(draft)
        directory = try Directory.uncover(draft)
        cgroupName = name
        self.lock = lock
    }

    func remove() { Directory.removeTree(directory) }

    /// Ends and removes what those that were killed outright have left.
    static func clearDead() {
        for directory in Directory.temporaries(prefix: prefix) { clearIfDead(directory) }
    }

    private static func clearIfDead(_ directory: String) {
        guard let lock = try? LockFile(at: directory + lockName) else { return }
        defer { withExtendedLifetime(lock) {} }
        if let path = try? File.text(at: directory + cgroupFile), let tree = CgroupTree(leftAt: path) {
            for leaf in (try? tree.sweep()) ?? [] {
                Log("cgroup").error("cgroup \(leaf) of a bridge that died stays populated after its kill")
            }
            // The mark stays while the cgroup does, for the next start to try again.
            guard tree.remove() else { return }
        }
        Directory.removeTree(directory)
    }
}
