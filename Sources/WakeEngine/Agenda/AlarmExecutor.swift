// The texts of alarms for people, whose handler is not attached.
import WakeAgenda
import WakeModel
import WakeSystem

/// Receives an alarm's text for people.
package protocol AlertHook: AnyObject {
    /// Whether alerts go to anyone.
    var isSet: Bool { get }
    /// - Parameter handler: its name.
    func alert(_ text: String, of alarm: String, for handler: String)
    /// Ends alerts that are still running: the bridge ends.
    func close()
}

final class AlarmExecutor: TriggerExecutor {
    private let catalog: Catalog
    private let hook: (any AlertHook)?
    private let log = Log("agenda")

    init(_ hook: (any AlertHook)?, _ catalog: Catalog) { (self.hook, self.catalog) = (hook, catalog) }

    func perform(_ alert: AlarmAlert, of key: AgendaKey) {
        let handler = catalog.name(of: key.handler)
        guard let hook, hook.isSet else {
            return log.notice(
                "\(handler): alarm \(key.id) says \"\(alert.text)\"; name a hook under alerts in wakebridge.json5 to be told"
            )
        }
        hook.alert(alert.text, of: key.id, for: handler)
    }

    /// Ends alerts that are still running.
    func close() { hook?.close() }
}
