// What fails of one process while the bridge goes on with it: logged once, under its number.
import WakeSystem

struct ProcessTrouble {
    let log: Log
    let pid: Int32

    /// Nil where `body` failed, which is logged.
    @discardableResult
    func attempt<Value>(_ what: String, _ body: () throws(SystemError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            log.error("cannot \(what) process \(pid): \(error.description)")
            return nil
        }
    }
}
