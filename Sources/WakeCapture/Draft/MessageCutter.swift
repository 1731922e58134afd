// The cutting of a device's recorded bytes into messages: by its profile, if one knows it.
import WakeModel
import WakeTrace

public protocol MessageCutter {
    /// Returns the messages that these bytes complete, each with its channel.
    mutating func append(_ bytes: [UInt8], at time: TimeSpan) -> [(channel: Channel, bytes: [UInt8])]
    /// The rest as the recording ends.
    mutating func end() -> [(channel: Channel, bytes: [UInt8])]
}

/// Knows profiles.
public protocol MessageCutting {
    /// Nil where no profile knows the device, or it makes messages of the channel in no way of its own.
    func cutter(for device: TraceDevice, of channel: Channel) -> (any MessageCutter)?
}

/// Bytes that came together are a message.
struct PieceCutter: MessageCutter {
    let channel: Channel

    func append(_ bytes: [UInt8], at time: TimeSpan) -> [(channel: Channel, bytes: [UInt8])] { [(channel, bytes)] }
    func end() -> [(channel: Channel, bytes: [UInt8])] { [] }
}

// Bytes of accessories, at the time of the record that was read last.
extension TraceDraft {
    /// Bytes of a serial line.
    mutating func addSerial(_ bytes: [UInt8], from place: Int) {
        add(bytes, of: .serial, from: place, otherwise: SerialCutter())
    }

    /// Input events that came together.
    mutating func addBatch(_ bytes: [UInt8], from place: Int) {
        add(bytes, of: .input, from: place, otherwise: PieceCutter(channel: .input))
    }

    private mutating func add(
        _ bytes: [UInt8], of channel: Channel, from place: Int, otherwise plain: @autoclosure () -> any MessageCutter
    ) {
        // Held once, so that it is changed in place.
        var cutter =
            cutters.removeValue(forKey: place) ?? cutting?.cutter(for: devices[place].facts, of: channel) ?? plain()
        let messages = cutter.append(bytes, at: latest)
        cutters[place] = cutter
        addMessages(messages, from: place)
    }

    /// Ends messages that are still open.
    mutating func endMessages() {
        for (place, cutter) in cutters.sorted(by: { $0.key < $1.key }) {
            var cutter = cutter
            addMessages(cutter.end(), from: place)
        }
        cutters = [:]
    }

    private mutating func addMessages(_ messages: [(channel: Channel, bytes: [UInt8])], from place: Int) {
        for (channel, bytes) in messages {
            counts.messages += 1
            add(bytes, of: channel, from: place)
        }
    }
}
