// Stateful decoding: each message reaches its device's decoder in order, before any policy drops it.
import WakeModel
import WakeProfiles

struct MessageHearing {
    /// A device whose profile has a memory.
    private struct Listener {
        let decoder: ProfileDecoder
        /// As it is written; nil for an accessory.
        let address: String?
        var sender = DeviceMemory.Sender()
        var memory = DeviceMemory()
    }

    /// By the device's number; nil for most.
    private var listeners: [Listener?] = []
    /// The keys of keys.json5; never shown.
    private var keys = DeviceKeys()

    /// Holds for messages from now on. Counters of encrypted messages go on.
    mutating func adopt(_ keys: DeviceKeys) {
        self.keys = keys
        for place in listeners.indices {
            guard let address = listeners[place]?.address else { continue }
            let sender = sender(at: address)
            listeners[place]?.sender = sender
        }
    }

    /// A device is there, or has another profile; one that goes on with the same keeps its memory.
    mutating func introduce(_ device: Device, as id: EventOrigin, with decoder: ProfileDecoder?) {
        let place = Int(id.rawValue)
        guard let decoder, decoder.hasMemory else {
            if place < listeners.count { listeners[place] = nil }
            return
        }
        while listeners.count <= place { listeners.append(nil) }
        let address = Device.bluetoothAddress(in: device.uri)
        let sender = address.map { self.sender(at: $0) } ?? .init(reportDescriptor: device.reportDescriptor)
        guard listeners[place]?.decoder !== decoder || listeners[place]?.sender != sender else { return }
        listeners[place] = Listener(decoder: decoder, address: address, sender: sender)
    }

    private func sender(at address: String) -> DeviceMemory.Sender {
        DeviceMemory.Sender(
            address: [UInt8](hexadecimal: address.filter { $0 != ":" }) ?? [], key: keys.key(of: address))
    }

    /// Decodes a message together with those before it.
    mutating func hear(_ event: DeviceEvent) -> HeardValue {
        let place = Int(event.origin.rawValue)
        guard place < listeners.count, var listener = listeners[place] else { return .none }
        // Held once, so that its memory is changed in place.
        listeners[place] = nil
        defer { listeners[place] = listener }
        switch event.kind {
        case .data(let channel, let bytes):
            let now = event.stamp.moment.monotonic
            return listener.decoder.hear(bytes, from: channel, of: listener.sender, at: now, after: &listener.memory)
        case .connected, .disconnected, .gap:
            listener.memory.forget()
            return .none
        case .attention, .occasion: return .none
        }
    }
}
