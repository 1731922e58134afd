// The users that handlers run as, as they were when the manifests were read last: the data base that knows them may be on
// another machine, and the loop, on which everybody waits, does not ask it at each launch.
import WakeSystem

/// Who a manifest says that its handler runs as.
struct AccountName: Hashable {
    var user: String
    var group: String?
    var groups: [String]
    /// Whose own user it is.
    var handler: String?
}

package final class AccountBook {
    private var known: [AccountName: Account] = [:]
    private var own: Account?
    private let ownUsers: OwnUsers

    package init(_ ownUsers: OwnUsers) { self.ownUsers = ownUsers }

    /// Who the handler runs as; nil for who we are.
    package func account(of manifest: HandlerManifest) throws(SystemError) -> Account? {
        guard let user = manifest.user else { return nil }
        let handler = manifest.hasOwnUser ? manifest.id : nil
        return try account(
            AccountName(user: user, group: manifest.group, groups: manifest.groups, handler: handler))
    }

    private func account(_ name: AccountName) throws(SystemError) -> Account {
        if let account = known[name] { return account }
        let account = try find(name)
        known[name] = account
        return account
    }

    /// Who we run as ourselves.
    func current() throws(SystemError) -> Account {
        if let own { return own }
        let account = try Account.current()
        own = account
        return account
    }

    /// Users are made, changed and removed between two readings. One that cannot be asked for now stays as it was.
    package func renew() {
        for name in known.keys {
            do throws(SystemError) { known[name] = try find(name) } catch {
                if error.errno == .noEntry { known[name] = nil }
            }
        }
    }

    private func find(_ name: AccountName) throws(SystemError) -> Account {
        if let handler = name.handler { return try ownUsers.account(of: handler).joining(name.groups) }
        return try Account(named: name.user, group: name.group).joining(name.groups)
    }
}
