// The deeds of another machine with the handler's own peripheral, as a plain value.

/// Another machine that uses the handler's peripheral.
public struct Central: Hashable, Sendable {
    /// Its address, such as `C0:F1:F2:F3:F4:01`. That of a central without a bond may change at any time.
    public let identifier: String
    /// A bond proves its address.
    public let isBonded: Bool
}

/// A read that waits for the handler's answer. Answer it with ``LocalPeripheral/respond(to:with:)``.
public struct CentralReadRequest: Hashable, Sendable {
    /// The number that the answer names.
    let number: Int64
    /// After this time the central gets the last value that was served.
    public let remaining: Duration
}

/// An event of a characteristic that the handler serves.
public struct CentralEvent: Hashable, Sendable {
    /// The deed.
    public enum Kind: Hashable, Sendable {
        /// It wrote bytes from this place of the value on. The event is on disk: what the central got confirmed is never lost.
        case written([UInt8], offset: Int)
        /// It reads a dynamic characteristic.
        case read(CentralReadRequest)
        /// It gets the values from now on, of so many bytes at most.
        case subscribed(maximumUpdateValueLength: Int)
        /// It gets none any more.
        case unsubscribed(SubscriptionEndReason)
        /// It has confirmed a value that was indicated.
        case confirmed
    }

    /// The machine that did it.
    public let central: Central
    /// The UUID of the service.
    public let service: String
    /// The characteristic of the manifest.
    public let characteristic: Characteristic
    /// The deed.
    public let kind: Kind
}

/// Why a central gets no values any more.
public enum SubscriptionEndReason: BridgeWord {
    /// It has unsubscribed, or its link has ended.
    case central
    /// It was not back half a minute after bluetoothd or the daemon had ended.
    case lost
    /// A word of a later version.
    case other(String)

    public static let known: [SubscriptionEndReason] = [.central, .lost]

    public var word: String {
        switch self {
        case .central: "central"
        case .lost: "lost"
        case .other(let word): word
        }
    }
}

/// A central that gets the values of a characteristic.
public struct CentralSubscription: Hashable, Sendable {
    /// The address of the central.
    public let central: String
    /// The characteristic of the manifest.
    public let characteristic: Characteristic
}

/// The handler's peripheral at the start of a process.
public struct LocalPeripheralState: Hashable, Sendable {
    /// Centrals can use its services.
    public let isRegistered: Bool
    /// Centrals can find it.
    public let isAdvertising: Bool
    /// The centrals that get values.
    public let subscriptions: [CentralSubscription]
}
