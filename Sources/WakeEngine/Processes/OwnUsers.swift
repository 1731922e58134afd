// Users for one handler each: their numbers, over restarts and beside those of systemd.
import Glibc
import WakeSystem

/// The owner of a handler's state directory records its number. A removed handler's directory keeps the number, so that
/// no other handler can read it. If numbers run short, an empty directory gives its number back.
package final class OwnUsers {
    /// The directories and locks that keep the numbers.
    package struct Places {
        /// Contains a directory for each handler.
        var handlers: String
        /// The same directories of other daemons on this machine.
        var neighbours: [String] = []
        var locks = UserLock.systemDirectory
    }

    /// The numbers of `DynamicUser=`, which no user database assigns.
    static let numbers: ClosedRange<UInt32> = 61_184...65_519

    private let places: Places
    private let isListed: (UInt32) -> Bool
    private var accounts: [String: Account] = [:]
    private var locks: [UInt32: UserLock] = [:]

    package init(_ places: Places, isListed: @escaping (UInt32) -> Bool = Account.isListed) {
        self.places = places
        self.isListed = isListed
    }

    /// The same each time, as long as the daemon runs.
    func account(of handler: String) throws(SystemError) -> Account {
        if let account = accounts[handler] { return account }
        makeLockDirectory()
        let directory = "\(places.handlers)/\(handler)"
        let name = "wb-\(handler)"
        let account = Account(unlisted: try number(of: handler, name), called: name, home: directory)
        accounts[handler] = account
        return account
    }

    private func number(of handler: String, _ name: String) throws(SystemError) -> UInt32 {
        var taken = numbersOfOthers(than: handler)
        if let kept = File.owner(of: "\(places.handlers)/\(handler)"), Self.numbers.contains(kept) {
            if !taken.contains(kept), try reserve(kept, name) { return kept }
            taken.insert(kept)
        }
        let start = Self.firstChoice(of: handler)
        for step in 0..<UInt32(Self.numbers.count) {
            let number = Self.numbers.lowerBound + (start + step) % UInt32(Self.numbers.count)
            if !taken.contains(number), try reserve(number, name) { return number }
        }
        throw SystemError(
            "find a free user for", "handler \(handler)", Errno(code: EUSERS),
            advice: "remove the directories of handlers that are gone from \(places.handlers)")
    }

    /// Takes back the numbers of removed handlers that have no process and have left nothing.
    /// - Returns: these handlers.
    func release(but configured: Set<String>) -> Set<String> {
        guard let directories = try? Set(Directory.names(in: places.handlers)) else { return [] }
        let running = Self.usersOfProcesses
        var released: Set<String> = []
        for name in directories.union(accounts.keys).subtracting(configured) {
            let path = "\(places.handlers)/\(name)"
            guard let number = accounts[name]?.user ?? File.owner(of: path), Self.numbers.contains(number),
                !running.contains(number), !directories.contains(name) || (try? Directory.remove(path)) != nil
            else { continue }
            accounts[name] = nil
            if !accounts.values.contains(where: { $0.user == number }) { locks[number] = nil }
            released.insert(name)
        }
        return released
    }

    /// Real, effective, saved and file system users of all processes. Owners of folders in /proc do not suffice: a
    /// process can hide there.
    private static var usersOfProcesses: Set<UInt32> {
        let processes = ((try? Directory.names(in: "/proc")) ?? []).filter { Int32($0) != nil }
        let lines = processes.compactMap { process in
            (try? File.text(at: "/proc/\(process)/status"))?.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        }
        return Set(lines.flatMap { $0.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) } })
    }

    /// Where two directories have one owner, as after a copy, the first by name keeps it.
    private func numbersOfOthers(than handler: String) -> Set<UInt32> {
        var numbers = Set(accounts.values.map(\.user))
        let own = File.owner(of: "\(places.handlers)/\(handler)")
        for name in (try? Directory.names(in: places.handlers)) ?? [] where name != handler {
            guard let owner = File.owner(of: "\(places.handlers)/\(name)") else { continue }
            if owner != own || name < handler { numbers.insert(owner) }
        }
        for place in places.neighbours {
            for name in (try? Directory.names(in: place)) ?? [] {
                if let owner = File.owner(of: "\(place)/\(name)"), owner != own { numbers.insert(owner) }
            }
        }
        return numbers
    }

    private func reserve(_ number: UInt32, _ name: String) throws(SystemError) -> Bool {
        guard !isListed(number) else { return false }
        guard File.exists(places.locks) else { return true }
        guard let lock = try UserLock.acquire(number, for: name, in: places.locks) else { return false }
        locks[number] = lock
        return true
    }

    /// Systemd makes it with its first such unit, which may start after the daemon.
    private func makeLockDirectory() {
        guard places.locks == UserLock.systemDirectory, File.exists("/run/systemd/system") else { return }
        try? Directory.create(places.locks, mode: 0o755)
    }

    /// The same in every run of the daemon: FNV-1a of the id.
    static func firstChoice(of handler: String) -> UInt32 {
        let hash = handler.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return hash % UInt32(numbers.count)
    }
}
