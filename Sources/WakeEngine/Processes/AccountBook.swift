// The users that handlers run as, cached when the manifests are read. The user database may be on another machine, so the daemon's
// loop must not query it at each launch.
import Glibc
import WakeSystem

/// The user and groups that a manifest names.
struct AccountName: Hashable {
    var user: String
    var group: String?
    var groups: [String]
    /// Set where the user exists for this handler only.
    var handler: String?
}

package final class AccountBook {
    private var known: [AccountName: Account] = [:]
    private var own: Account?
    private let ownUsers: OwnUsers
    /// The handlers that keep their numbers; nil where no number is ever taken back.
    private let catalog: Catalog?

    package init(_ ownUsers: OwnUsers, of catalog: Catalog? = nil) {
        (self.ownUsers, self.catalog) = (ownUsers, catalog)
    }

    /// For a check of manifests that no daemon has loaded: it gives any free number for `auto`, and keeps none.
    package static func withoutPlaces() -> AccountBook {
        AccountBook(OwnUsers(OwnUsers.Places(handlers: "/nonexistent", locks: "/nonexistent")))
    }

    /// Nil where the handler runs as the daemon's user.
    package func account(of manifest: HandlerManifest) throws(SystemError) -> Account? {
        guard let user = manifest.user else { return nil }
        let handler = manifest.hasOwnUser ? manifest.id : nil
        return try account(
            AccountName(user: user, group: manifest.group, groups: manifest.groups, handler: handler))
    }

    /// The same, and nil also where the manifest names the daemon's user and no groups: nothing is to be switched.
    package func switching(for manifest: HandlerManifest) throws(SystemError) -> Account? {
        guard let account = try account(of: manifest) else { return nil }
        return account.isCurrent && manifest.group == nil && manifest.groups.isEmpty ? nil : account
    }

    private func account(_ name: AccountName) throws(SystemError) -> Account {
        if let account = known[name] { return account }
        let account = try find(name)
        known[name] = account
        return account
    }

    /// The daemon's own.
    package func current() throws(SystemError) -> Account {
        if let own { return own }
        let account = try Account.current()
        own = account
        return account
    }

    /// Users may have changed since the last reading. One whose lookup fails now stays as it was.
    package func renew() {
        for name in known.keys {
            do throws(SystemError) { known[name] = try find(name) } catch {
                if error.errno == .noEntry { known[name] = nil }
            }
        }
    }

    private func find(_ name: AccountName) throws(SystemError) -> Account {
        if let handler = name.handler { return try ownAccount(of: handler).joining(name.groups) }
        return try Account(named: name.user, group: name.group).joining(name.groups)
    }

    /// Where no number is free, first takes back numbers of removed handlers that have left nothing.
    private func ownAccount(of handler: String) throws(SystemError) -> Account {
        do throws(SystemError) { return try ownUsers.account(of: handler) } catch {
            guard error.errno == Errno(code: EUSERS), let catalog else { throw error }
            let released = ownUsers.release(but: Set(catalog.handlers.values.map(\.id)))
            guard !released.isEmpty else { throw error }
            known = known.filter { !released.contains($0.key.handler ?? "") }
            return try ownUsers.account(of: handler)
        }
    }
}
