// The words about a device: why it went, what was lost, what it needs, and what a piece of a line is.

/// Why a device is disconnected.
public enum DisconnectReason: BridgeWord {
    /// The peripheral is out of reach, or its battery is empty.
    case timeout
    /// The peripheral ended the link.
    case remoteUser, remoteLowResources, remotePowerOff
    /// This machine ended the link.
    case localHost
    /// The bond is no longer valid; an attention of the kind ``AttentionKind/bondInvalid`` has the details.
    case keyMissing, authenticationFailure
    /// A packet could not be verified.
    case micFailure
    /// Errors of HCI, by their names.
    case unsupportedRemoteFeature, unspecified, responseTimeout, instantPassed, unsupportedUnitKey
    /// Errors of HCI, by their names.
    case insufficientSecurity, unacceptableConnectionParameters, failedToEstablish
    /// The link ended, and the daemon cannot know why.
    case linkLost
    /// The link is there, and none of its characteristics could be subscribed.
    case notUsable
    /// The peripheral's services, or its profile, changed; it connects again where subscribing is possible.
    case servicesChanged, profileChanged
    /// The Bluetooth service ended, or the adapter was switched off or unplugged.
    case bluetoothdGone, adapterDown
    /// The device was removed, or is not trusted any more.
    case removed
    /// The accessory was unplugged.
    case unplugged
    /// The line was hung up; the accessory may be there still.
    case hungUp
    /// The accessory had been released while no handler was awake for it.
    case detached
    /// A device that only broadcasts was not received for a while.
    case silent
    /// A device that only broadcasts is named by no manifest and no person any more.
    case notAllowed
    /// An operator paused or closed the session.
    case sessionPaused, sessionClosed
    /// An operator ran `wakebridge simulate disconnect`.
    case simulated
    /// The MQTT broker, or the bridge whose device it is, is away.
    case brokerAway, bridgeOffline
    /// The bridge whose device it is has forgotten it.
    case forgotten
    /// A word of a later version, or a code of HCI without a name, such as `0x2a`.
    case other(String)

    public static let known: [DisconnectReason] = [
        .timeout, .remoteUser, .remoteLowResources, .remotePowerOff, .localHost, .keyMissing, .authenticationFailure,
        .micFailure, .unsupportedRemoteFeature, .unspecified, .responseTimeout, .instantPassed, .unsupportedUnitKey,
        .insufficientSecurity, .unacceptableConnectionParameters, .failedToEstablish, .linkLost, .notUsable,
        .servicesChanged, .profileChanged, .bluetoothdGone, .adapterDown, .removed, .unplugged, .hungUp, .detached,
        .silent, .notAllowed, .sessionPaused, .sessionClosed, .simulated, .brokerAway, .bridgeOffline,
        .forgotten,
    ]

    public var word: String {
        switch self {
        case .timeout: "timeout"
        case .remoteUser: "remote-user"
        case .remoteLowResources: "remote-low-resources"
        case .remotePowerOff: "remote-power-off"
        case .localHost: "local-host"
        case .keyMissing: "key-missing"
        case .authenticationFailure: "authentication-failure"
        case .micFailure: "mic-failure"
        case .unsupportedRemoteFeature: "unsupported-remote-feature"
        case .unspecified: "unspecified"
        case .responseTimeout: "response-timeout"
        case .instantPassed: "instant-passed"
        case .unsupportedUnitKey: "unsupported-unit-key"
        case .insufficientSecurity: "insufficient-security"
        case .unacceptableConnectionParameters: "unacceptable-connection-parameters"
        case .failedToEstablish: "failed-to-establish"
        case .linkLost: "link-lost"
        case .notUsable: "not-usable"
        case .servicesChanged: "services-changed"
        case .profileChanged: "profile-changed"
        case .bluetoothdGone: "bluetoothd-gone"
        case .adapterDown: "adapter-down"
        case .removed: "removed"
        case .unplugged: "unplugged"
        case .hungUp: "hung-up"
        case .detached: "detached"
        case .silent: "silent"
        case .notAllowed: "not-allowed"
        case .sessionPaused: "session-paused"
        case .sessionClosed: "session-closed"
        case .simulated: "simulated"
        case .brokerAway: "broker-away"
        case .bridgeOffline: "bridge-offline"
        case .forgotten: "forgotten"
        case .other(let word): word
        }
    }
}

/// Why events were lost.
public enum GapCause: BridgeWord {
    /// Messages that the device may have sent while it was not connected, or not subscribed.
    case link
    /// There was no room in a queue, in the journal, or in the kernel's own buffer.
    case overflow
    /// The subscription's `policy` dropped data.
    case policy
    /// The device sent more than `storm` lets pass.
    case storm
    /// The handler was stopped.
    case stopped
    /// Events waited for longer than `retention`.
    case retention
    /// The journal holds an event that it cannot read any more.
    case durability
    /// An event was put aside after it had ended the handler five times.
    case deadLetter
    /// The daemon or the machine went down with events that were kept in memory only.
    case bridgeRestart
    /// A word of a later version.
    case other(String)

    public static let known: [GapCause] = [
        .link, .overflow, .policy, .storm, .stopped, .retention, .durability, .deadLetter, .bridgeRestart,
    ]

    public var word: String {
        switch self {
        case .link: "link"
        case .overflow: "overflow"
        case .policy: "policy"
        case .storm: "storm"
        case .stopped: "stopped"
        case .retention: "retention"
        case .durability: "durability"
        case .deadLetter: "dead-letter"
        case .bridgeRestart: "bridge-restart"
        case .other(let word): word
        }
    }
}

/// The reason why a device needs an operator.
public enum AttentionKind: BridgeWord {
    /// The bond does not hold any more: run the command in the detail.
    case bondInvalid
    /// The device asks to be paired.
    case pairing
    /// The link went while you waited to have its event again, or the adapter has no room for it.
    case linkDown
    /// A characteristic is refused or absent, or a node cannot be opened.
    case accessDenied
    /// Bytes of a serial line do not fit its framing.
    case undecodable
    /// It comes and goes too often.
    case flapping
    /// It sends too much.
    case storm
    /// A word of a later version.
    case other(String)

    public static let known: [AttentionKind] = [
        .bondInvalid, .pairing, .linkDown, .accessDenied, .undecodable, .flapping, .storm,
    ]

    public var word: String {
        switch self {
        case .bondInvalid: "bond-invalid"
        case .pairing: "pairing"
        case .linkDown: "link-down"
        case .accessDenied: "access-denied"
        case .undecodable: "undecodable"
        case .flapping: "flapping"
        case .storm: "storm"
        case .other(let word): word
        }
    }
}

/// Why bytes of a serial line are no whole message.
public enum Fragment: BridgeWord {
    /// No end came within the limit.
    case tooLong
    /// The bytes come before the start of a message.
    case noStart
    /// The length cannot be right.
    case badLength
    /// An escape sequence is wrong.
    case badEscape
    /// A code is wrong.
    case badCode
    /// The check is wrong, and another message begins within.
    case badCheck
    /// The line ended before the message did.
    case cutShort
    /// A word of a later version.
    case other(String)

    public static let known: [Fragment] = [
        .tooLong, .noStart, .badLength, .badEscape, .badCode, .badCheck, .cutShort,
    ]

    public var word: String {
        switch self {
        case .tooLong: "too-long"
        case .noStart: "no-start"
        case .badLength: "bad-length"
        case .badEscape: "bad-escape"
        case .badCode: "bad-code"
        case .badCheck: "bad-check"
        case .cutShort: "cut-short"
        case .other(let word): word
        }
    }
}
