// Which characteristic of a device is meant: its UUID, and where several have that one, which of them.

public struct CharacteristicName: Hashable, Sendable {
    public var uuid: BluetoothUUID
    /// From 1, in the order of handles.
    public var number: UInt8

    /// The bridge does not distinguish more than these of one UUID: no device has them.
    public static let mostOfOne = 16

    public init(_ uuid: BluetoothUUID, number: UInt8 = 1) { (self.uuid, self.number) = (uuid, number) }

    /// Reads `2a19`, and `2a19#2` for the second.
    public init?(_ text: some StringProtocol) {
        guard let mark = text.firstIndex(of: "#") else {
            guard let uuid = BluetoothUUID(text) else { return nil }
            self.init(uuid)
            return
        }
        let digits = text[text.index(after: mark)...]
        guard let uuid = BluetoothUUID(text[..<mark]), let number = UInt8(digits),
            (2...UInt8(Self.mostOfOne)).contains(number), String(number) == digits
        else { return nil }
        self.init(uuid, number: number)
    }

    /// The one with the lowest handle: a profile means it and all others of its UUID.
    public var first: CharacteristicName { CharacteristicName(uuid) }
}

extension CharacteristicName: CustomStringConvertible {
    public var description: String { number == 1 ? uuid.description : "\(uuid)#\(number)" }
}
