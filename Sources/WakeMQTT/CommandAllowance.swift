// Which commands the settings allow: all of a kind, or reads and writes of one characteristic or stream alone.
import WakeModel

public struct CommandAllowance: Hashable, Sendable {
    /// `"session"`, or `"write:lock.2a06"`.
    public struct Entry: Hashable, Sendable {
        fileprivate let kind: BridgeCommand.Kind
        /// `lock.2a06`: a device, and its characteristic or stream. Nil for all of the kind.
        fileprivate let target: String?

        public static let form =
            "a list of \"session\", \"wake\", \"read\", \"write\", \"read:DEVICE.CHARACTERISTIC\" and "
            + "\"write:DEVICE.CHARACTERISTIC\""

        /// Nil if the text is none.
        public init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let word = parts.first, let kind = BridgeCommand.Kind(rawValue: String(word)) else { return nil }
            guard parts.count == 2 else {
                (self.kind, target) = (kind, nil)
                return
            }
            guard kind == .read || kind == .write, let dot = parts[1].lastIndex(of: "."), dot > parts[1].startIndex
            else { return nil }
            let what = parts[1][parts[1].index(after: dot)...]
            guard !what.isEmpty else { return nil }
            self.kind = kind
            target = CommandAllowance.target(String(parts[1][..<dot]), String(what))
        }

        public var text: String { target.map { "\(kind.rawValue):\($0)" } ?? kind.rawValue }
    }

    public var entries: Set<Entry> = []

    public init(_ entries: Set<Entry> = []) { self.entries = entries }

    /// Whether every command of the kind is allowed.
    public func allowsAll(_ kind: BridgeCommand.Kind) -> Bool {
        entries.contains { $0.kind == kind && $0.target == nil }
    }

    public func allows(_ command: BridgeCommand) -> Bool {
        if allowsAll(command.kind) { return true }
        guard let target = command.target else { return false }
        return entries.contains { $0.kind == command.kind && $0.target == target }
    }

    /// The same text for each way to write a characteristic.
    fileprivate static func target(_ device: String, _ part: String) -> String {
        "\(device).\(BluetoothUUID(part)?.description ?? part)"
    }
}

extension BridgeCommand {
    /// Nil where it names no one characteristic or stream.
    fileprivate var target: String? {
        guard case .object(let members) = body else { return nil }
        let parts = members.filter { $0.name == "characteristic" || $0.name == "stream" }
        guard parts.count == 1, let part = parts.first?.value.string else { return nil }
        return CommandAllowance.target(name, part)
    }
}
