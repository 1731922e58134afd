// Talking back: what handlers write to an accessory's stream.
import WakeModel

extension AccessorySource {
    /// - Parameter channel: nil for the only stream of the device; a HID report begins with its number.
    /// - Parameter answer: called exactly once, when the system has taken all of it.
    public func write(
        _ bytes: [UInt8], to channel: Channel?, of uri: String,
        _ answer: @escaping (Result<Void, TalkFailure>) -> Void
    ) {
        guard let entry = watched[uri], entry.machine.isOpen, let port = entry.port else {
            return answer(.failure(.notConnected))
        }
        port.write(bytes, to: channel) { failure in answer(failure.map(Result.failure) ?? .success(())) }
    }

    /// Nothing can be asked of a stream: what it says comes by itself.
    public func refusalToRead(of uri: String) -> TalkFailure {
        watched[uri]?.machine.isOpen == true
            ? .notOffered("an accessory's stream cannot be asked; what it says comes as data") : .notConnected
    }
}
