// The open sockets of handlers as processes inherit them, by number and by name, or are passed them. Who put one there owns the descriptor.
import WakeAgenda
import WakeModel
import WakeSystem

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
    /// To the present process of a handler that is passed what opens while it runs.
    private var channels: [HandlerID: DescriptorChannel] = [:]

    package func put(_ descriptor: Int32, _ name: String, at number: Int32, of handler: HandlerID) {
        places[handler, default: [:]][number] = Place(name: name, descriptor: descriptor)
    }

    package func remove(_ number: Int32, of handler: HandlerID) {
        places[handler]?[number] = nil
        if places[handler]?.isEmpty ?? false { places[handler] = nil }
    }

    /// A process was started: over this more can be passed to it.
    func setChannel(_ channel: DescriptorChannel?, of handler: HandlerID) { channels[handler] = channel }

    /// Gives the present process a copy; false where it was started without a way to it, or does not read what came before.
    func pass(_ number: Int32, to handler: HandlerID) -> Bool {
        guard let place = places[handler]?[number], let channel = channels[handler] else { return false }
        let line = JSONWriter.line { $0.field("socket", place.name) }
        guard channel.pass(place.descriptor, with: line) else { return false }
        places[handler]?[number]?.isLent = true
        return true
    }

    package func isLent(_ number: Int32, of handler: HandlerID) -> Bool { places[handler]?[number]?.isLent ?? false }

    /// No process has any of them.
    package func takeBack(from handler: HandlerID) {
        channels[handler] = nil
        places[handler] = places[handler]?.mapValues { Place(name: $0.name, descriptor: $0.descriptor) }
    }

    /// From the first number on, with -1 for a number without a socket, and `sip=4,web=6` for WAKEBRIDGE_SOCKETS.
    func inheritance(of handler: HandlerID) -> (descriptors: [Int32], names: String) {
        guard let held = places[handler], let last = held.keys.max() else { return ([], "") }
        for number in held.keys { places[handler]?[number]?.isLent = true }
        let descriptors = (SocketRule.firstNumber...last).map { held[$0]?.descriptor ?? -1 }
        let names = held.sorted { $0.key < $1.key }.map { "\($0.value.name)=\($0.key)" }
        return (descriptors, names.joined(separator: ","))
    }
}
