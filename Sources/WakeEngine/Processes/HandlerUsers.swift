// The users by whose rights a handler may read paths.
import WakeModel
import WakeSystem

package enum PathReader {
    /// The daemon's own user, as which the handler runs too.
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
    /// Nil where the handler has no known user; then it can read nothing.
    func reader(of handler: HandlerID) -> PathReader?
}

/// Looks users up as each launch does.
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
