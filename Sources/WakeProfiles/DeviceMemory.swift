// The state that a device's earlier messages leave for the next: a rate is made of two messages, some formats of many.
import WakeModel

/// The memory for one device with one profile. Its owner uses it once for each message, in their order.
public struct DeviceMemory: Hashable, Sendable {
    /// The sender of a message, for formats that encrypt.
    public struct Sender: Hashable, Sendable {
        /// Six bytes in the order in which the address is written; empty for an accessory.
        public var address: [UInt8]
        /// The key in keys.json5.
        public var key: [UInt8]?
        /// The report descriptor of a HID device.
        public var reportDescriptor: [UInt8] = []

        public init(address: [UInt8] = [], key: [UInt8]? = nil, reportDescriptor: [UInt8] = []) {
            (self.address, self.key, self.reportDescriptor) = (address, key, reportDescriptor)
        }
    }

    var rates = RateMemory()
    private var states: [NamedDecoder: DecoderState] = [:]

    public init() {}

    /// After a disconnect or a gap: unfinished messages do not go on. Counters of encrypted messages must still grow.
    public mutating func forget() {
        rates.forget()
        states = states.filter { $0.value.isCounter }
    }

    /// The value that a named decoder makes of a message.
    mutating func decode(
        _ message: DecoderMessage, with decoder: NamedDecoder, _ settings: DecoderSettings
    ) -> HeardValue {
        do throws(DecoderFault) {
            var json: [UInt8] = []
            var state = DecoderState.nothing
            // Held once, so that it is changed in place.
            if let known = states.removeValue(forKey: decoder) {
                state = known
            } else {
                state = try decoder.begin(settings)
            }
            defer { states[decoder] = state }
            var whole = try decoder.decode(message, with: &state)
            // A message is a whole line, which its source has waited for: an Enter may be missing.
            if let end = state.deadline, let rest = decoder.finish(&state, at: end) {
                whole = whole?.joined(with: rest) ?? rest
            }
            guard let fields = whole else { return HeardValue(.nothing) }
            fields.write(into: &json)
            return HeardValue(.value, json)
        } catch { return HeardValue(.fault, Array(error.description.utf8)) }
    }
}

extension DecoderState {
    fileprivate static let nothing = DecoderState(memory: .nothing)
    fileprivate var isCounter: Bool { if case .counter = memory { true } else { false } }
}
