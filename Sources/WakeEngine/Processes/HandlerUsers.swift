// Whose rights decide what a handler may read.
import WakeModel
import WakeSystem

package enum PathReader {
    /// The daemon's own, which the handler has too.
    case daemon
    case user(Account)

    var account: Account? {
        switch self {
        case .daemon: nil
        case .user(let account): account
        }
    }
}

package protocol PathReaders {
    /// Nil where no user is known for the handler: then it can read nothing.
    func reader(of handler: HandlerID) -> PathReader?
}

/// As they are looked up for each launch.
package struct HandlerUsers: PathReaders {
    private let catalog: Catalog
    private let accounts: AccountBook

    package init(of bridge: Bridge) { (catalog, accounts) = (bridge.catalog, bridge.accounts) }

    package func reader(of handler: HandlerID) -> PathReader? {
        guard let manifest = catalog.handlers[handler] else { return nil }
        do throws(SystemError) { return try accounts.switching(for: manifest).map { .user($0) } ?? .daemon } catch {
            return nil
        }
    }
}
