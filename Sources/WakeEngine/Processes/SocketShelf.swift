// The open sockets of handlers as processes inherit them: by number and by name. Who put one there owns the descriptor.
import WakeAgenda
import WakeModel

/// Filled by the holder of the sockets, read at each launch.
package final class SocketShelf {
    private struct Place {
        var name: String
        var descriptor: Int32
        /// The present process has it.
        var isLent = false
    }

    /// By the number in the process.
    private var places: [HandlerID: [Int32: Place]] = [:]

    package func put(_ descriptor: Int32, _ name: String, at number: Int32, of handler: HandlerID) {
        places[handler, default: [:]][number] = Place(name: name, descriptor: descriptor)
    }

    package func remove(_ number: Int32, of handler: HandlerID) {
        places[handler]?[number] = nil
        if places[handler]?.isEmpty ?? false { places[handler] = nil }
    }

    /// The present process was given it after its launch.
    package func lend(_ number: Int32, of handler: HandlerID) { places[handler]?[number]?.isLent = true }

    package func isLent(_ number: Int32, of handler: HandlerID) -> Bool { places[handler]?[number]?.isLent ?? false }

    /// No process has any of them.
    package func takeBack(from handler: HandlerID) {
        places[handler] = places[handler]?.mapValues { Place(name: $0.name, descriptor: $0.descriptor) }
    }

    /// From the first number on, with -1 for a number that stands for nothing, and `sip=4,web=6` for WAKEBRIDGE_SOCKETS.
    func inheritance(of handler: HandlerID) -> (descriptors: [Int32], names: String) {
        guard let held = places[handler], let last = held.keys.max() else { return ([], "") }
        for number in held.keys { places[handler]?[number]?.isLent = true }
        let descriptors = (SocketRule.firstNumber...last).map { held[$0]?.descriptor ?? -1 }
        let names = held.sorted { $0.key < $1.key }.map { "\($0.value.name)=\($0.key)" }
        return (descriptors, names.joined(separator: ","))
    }
}
