// The reason why a peripheral is not connected, apart from its session, as a sentence.
import WakeModel

public enum LinkBlock: Hashable, Sendable {
    case bluetoothdGone
    /// Bluetoothd does not know it any more, or it is not trusted.
    case unwatched
    case adapterDown
    case blocked
    /// Its adapter carries this many links, and has refused another.
    case noRoom(adapter: String, links: Int)

    public var sentence: String {
        switch self {
        case .bluetoothdGone: "bluetoothd is not there"
        case .unwatched: "bluetoothd does not know it, or it is not trusted; 'wakebridge pair' adopts it"
        case .adapterDown: "its adapter is off or gone"
        case .blocked:
            "bluetoothd blocks it, by a command or because its bond did not hold; pair it again, or unblock it"
        case .noRoom(let adapter, let links):
            "adapter \(adapter) carries \(links.counted("link")) and refuses another; it waits until one ends"
        }
    }
}

extension LinkMachine {
    /// Nil while it is connected, and where it is only not there yet.
    var block: LinkBlock? {
        switch facts.absence {
        case .bluetoothdGone: .bluetoothdGone
        case .adapterDown: .adapterDown
        case .removed: .unwatched
        case nil: facts.isBlocked && !facts.isConnected ? .blocked : nil
        }
    }

    /// It would be connected if its adapter had room.
    var wantsRoom: Bool { isAwaited && phase == .away }
}
