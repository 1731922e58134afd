// Changes the owner of one user's files below a directory, safe against anything that the former owner put there.
import CLinux
import Glibc

/// A change of owner. It follows no link and enters no other file system; files of a third user stay as they are.
public struct HandOver: Sendable {
    public struct Outcome: Hashable, Sendable {
        /// Entries that have the new owner now.
        public var given = 0
        /// Entries whose owner could not be changed, and directories that were not entered.
        public var left = 0
    }

    private let path: String
    private let former: UInt32
    private let account: Account
    /// A limit, because the former owner may have made an endless tree.
    private let entryLimit: Int
    private let depthLimit: Int
    private var looked = 0
    private var outcome = Outcome()

    public init(
        of path: String, from former: UInt32, to account: Account, entryLimit: Int = 1_000_000, depthLimit: Int = 64
    ) {
        self.path = path
        self.former = former
        self.account = account
        self.entryLimit = entryLimit
        self.depthLimit = depthLimit
    }

    /// Changes the owner of everything below the directory. The directory keeps its owner, by which a later start finds the rest.
    public func perform() -> Result<Outcome, SystemError> {
        do throws(SystemError) {
            let directory = try File.openDirectory(path)
            var fileSystem: UInt64 = 0
            let number = directory.raw
            _ = try attemptC { clinux_file_system(number, &fileSystem) }.get("look at", path)
            let giving = clinux_giving(
                file_system: fileSystem, former: former, user: account.user, group: account.group)
            var work = self
            work.give(all: directory.release(), giving, depth: 0)
            return .success(work.outcome)
        } catch {
            return .failure(error)
        }
    }

    /// Closes the directory at the end.
    private mutating func give(all directory: Int32, _ giving: clinux_giving, depth: Int) {
        guard let stream = fdopendir(directory) else {
            close(directory)
            outcome.left += 1
            return
        }
        defer { closedir(stream) }
        while let name = Directory.nextName(from: stream) {
            looked += 1
            guard looked <= entryLimit else {
                outcome.left += 1
                return
            }
            give(name, in: directory, giving, depth: depth)
        }
    }

    private mutating func give(_ name: String, in directory: Int32, _ giving: clinux_giving, depth: Int) {
        var inside: Int32 = -1
        var giving = giving
        switch attemptC({ clinux_give(directory, name, &giving, &inside) }) {
        case .value(let given): outcome.given += given
        // Its owner may have removed it meanwhile.
        case .failure(.noEntry): return
        case .failure: outcome.left += 1
        }
        guard inside >= 0 else { return }
        if depth < depthLimit { return give(all: inside, giving, depth: depth + 1) }
        close(inside)
        outcome.left += 1
    }
}
