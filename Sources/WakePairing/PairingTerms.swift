// The terms of pairing: the peripheral's facts, the operator's wish, questions and answers, and the outcome.
import WakeModel
import WakeSources

/// The facts of the peripheral now, as far as bluetoothd reports them.
public struct PairingFacts: BondFacts, Hashable, Sendable {
    /// Bluetoothd is there, the adapter is powered, and the peripheral is among its objects.
    public var isReachable = false
    public var isConnected = false
    public var areServicesResolved = false
    public var isPaired = false
    public var hasBond: Bool?
    public var isTrusted = false
    /// Bluetoothd refuses every link with it: the bridge does so where a bond does not hold any more.
    public var isBlocked = false
    public var alias = ""
    /// The alias that it shall have; may change as its services become known.
    public var wantedAlias = ""
    public var hasPrivateAddress = false

    public init() {}

    public init(_ peripheral: BluezPeripheral, isAdapterUp: Bool, wantedAlias: String) {
        self.wantedAlias = wantedAlias
        isReachable = isAdapterUp
        isConnected = peripheral.isConnected
        areServicesResolved = peripheral.areServicesResolved
        isPaired = peripheral.isPaired
        hasBond = peripheral.hasBond
        isTrusted = peripheral.isTrusted
        isBlocked = peripheral.isBlocked
        alias = peripheral.alias
        hasPrivateAddress = peripheral.hasPrivateAddress
    }
}

/// The operator's wish, and the questions that are allowed.
public struct PairingWish: Hashable, Sendable {
    /// How sentences call the peripheral.
    public var label: String
    /// The word that names it on the command line.
    public var word: String
    /// False for peripherals that do not bond: they are trusted and named only.
    public var wantsBond = true
    /// Comparisons are agreed to unseen.
    public var saysYes = false
    /// The passkey to give if one is requested.
    public var passkey: UInt32?
    /// The operator is at a terminal and can answer.
    public var canAsk = false

    public init(label: String, word: String) {
        self.label = label
        self.word = word
    }
}

/// A request to bluetoothd. Each has an answer, which is an error if its time runs out.
public enum PairingRequest: Hashable, Sendable {
    case connect
    case pair
    case trust
    case name(String)
    case cancelPairing
    case disconnect
    /// Bluetoothd removes it with its bond, its trust, its name and that it is blocked.
    case forget
    /// Bluetoothd scans, so that it finds a removed peripheral again.
    case listen
    case hush
}

public enum PairingFailure: Hashable, Sendable {
    /// Either side rejects the other's proof.
    case authenticationFailed
    case rejected
    case cancelled
    /// The peer was silent in the midst of it.
    case authenticationTimedOut
    /// Bluetoothd reports that it is paired already.
    case alreadyExists
    /// An earlier request of another program is still at work.
    case inProgress
    /// Bluetoothd did not answer in time, which it does not always do (``PairingMachine``).
    case noReply
    /// Everything else, in bluetoothd's words.
    case other(String)
}

/// A question of bluetoothd to its agent (org.bluez.Agent1).
public enum PairingQuestion: Hashable, Sendable {
    /// The passkey that the peripheral shows.
    case passkey
    case pin
    /// Whether the peripheral shows the same.
    case comparison(UInt32)
    /// Whether a pairing without any proof is wanted.
    case consent
}

public enum PairingReply: Hashable, Sendable {
    case passkey(UInt32)
    case pin(String)
    case yes
    case no
}

public enum PairingInput: Hashable, Sendable {
    case facts(PairingFacts)
    case answered(PairingRequest, PairingFailure?)
    case asked(PairingQuestion)
    /// The peripheral needs this typed on it; further calls give the number of entered digits.
    case display(passkey: String, entered: Int)
    /// Bluetoothd takes its question back.
    case withdrawn
    /// A line of the operator; nil where they went away.
    case said(String?)
    /// We may not be bluetoothd's agent.
    case refusedAsAgent(String)
    case interrupted
    case tick
}

public enum PairingEffect: Hashable, Sendable {
    case request(PairingRequest)
    case reply(PairingReply)
    /// To be put to the operator, who answers by a line.
    case ask(String)
    case withdraw
    /// A sentence for the terminal.
    case show(String)
    case done(PairingOutcome)
    case failed(String)
}

public struct PairingOutcome: Hashable, Sendable {
    public enum Bond: Hashable, Sendable {
        case new
        /// There was one; whether the peripheral was reached and took it.
        case kept(isProved: Bool)
        case none
    }
    public var bond: Bond
    /// How a new bond was proved.
    public var proof = PairingProof.none
    /// Whether this bluetoothd reports bonds: an older one reports pairing only, which may or may not be kept.
    public var isTold = true
}

/// The proof that the two sides compared while a bond was made; a disagreement shows the fault.
public enum PairingProof: Hashable, Sendable {
    /// None: any peripheral that answered was accepted.
    case none
    /// The peripheral's passkey, at this end.
    case typed(UInt32)
    /// Ours, at the peripheral.
    case shown(String)
    case compared(UInt32)
    /// A number that was agreed to without looking.
    case unseen(UInt32)

    /// As machines read it.
    public var word: String {
        switch self {
        case .none: "none"
        case .typed, .shown: "passkey"
        case .compared: "comparison"
        case .unseen: "unseen-comparison"
        }
    }
}
