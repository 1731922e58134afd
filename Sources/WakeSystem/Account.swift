// A user of the system's databases, looked up before the clone, because afterwards nothing may allocate.
import CLinux
import Glibc

/// The user, and groups, that a handler runs as.
public struct Account: Hashable, Sendable {
    public let name: String
    public let user: UInt32
    public let group: UInt32
    /// The groups that it runs with, its own first. The user's groups in the database are not added.
    public private(set) var groups: [UInt32]
    public let home: String
    /// No database has a name for it.
    public let isUnlisted: Bool

    /// Looks up a user by name; `group` names another primary group than the user's own.
    public init(named name: String, group groupName: String? = nil) throws(SystemError) {
        var found = clinux_account()
        _ = try attemptC { clinux_account_by_name(name, &found) }.get("look up", "user \"\(name)\"")
        try self.init(found, group: groupName)
    }

    /// The user that this process runs as.
    public static func current() throws(SystemError) -> Account { try Account(user: geteuid()) }

    public init(user: UInt32) throws(SystemError) {
        var found = clinux_account()
        _ = try attemptC { clinux_account_by_id(user, &found) }.get("look up", "user \(user)")
        try self.init(found, group: nil)
    }

    /// A user that is in no database, with a group of the same number and no other.
    public init(unlisted user: UInt32, called name: String, home: String) {
        self.name = name
        self.home = home
        self.user = user
        group = user
        groups = [user]
        isUnlisted = true
    }

    /// Whether a database has a user or a group with that number.
    public static func isListed(_ number: UInt32) -> Bool {
        (try? Account(user: number)) != nil || GroupName.text(of: number) != nil
    }

    /// Whether this process already runs as that user, and need not switch.
    public var isCurrent: Bool { user == geteuid() }

    private init(_ found: clinux_account, group groupName: String?) throws(SystemError) {
        name = withUnsafeBytes(of: found.name) { Account.text(in: $0) }
        home = withUnsafeBytes(of: found.home) { Account.text(in: $0) }
        user = found.user
        isUnlisted = false
        let group = try groupName.map { name throws(SystemError) in try GroupName.number(of: name) } ?? found.group
        self.group = group
        groups = [group]
    }

    /// The same user with these groups beside its own.
    public func joining(_ names: [String]) throws(SystemError) -> Account {
        var account = self
        for name in names {
            let number = try GroupName.number(of: name)
            if !account.groups.contains(number) { account.groups.append(number) }
        }
        return account
    }

    /// Every group that the database has the user in, `primary` among them. Most users are in a few, so room for the
    /// possible maximum is allocated only where it is needed.
    static func groups(of name: String, primary: UInt32, room: Int = 64) throws(SystemError) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: room)
        var answer = attemptC { clinux_groups_of(name, primary, &groups, groups.count) }
        if case .failure(Errno(code: ERANGE)) = answer {
            // NGROUPS_MAX, the kernel's limit.
            groups = [UInt32](repeating: 0, count: 65_536)
            answer = attemptC { clinux_groups_of(name, primary, &groups, groups.count) }
        }
        return Array(groups.prefix(try answer.get("list the groups of", "user \"\(name)\"")))
    }

    private static func text(in bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

public enum GroupName {
    public static func number(of name: String) throws(SystemError) -> UInt32 {
        var group: gid_t = 0
        _ = try attemptC { clinux_group_by_name(name, &group) }.get("look up", "group \"\(name)\"")
        return group
    }

    /// Nil where no group has the number.
    public static func text(of number: UInt32) -> String? {
        var name = [CChar](repeating: 0, count: 256)
        guard case .value = attemptC({ clinux_group_by_id(number, &name, name.count) }) else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
