// Finding the accessory that somebody means: by its node, by what people call it, or by its URI.
import WakeModel
import WakeSystem

extension AccessorySource {
    /// Who stands at this node or place in /sys, where that is beyond doubt.
    public func uri(at word: String) -> String? { record(at: word).flatMap { places[$0.path] } }

    /// A URI, with or without `/accessory/`, or a name, of one that is known, attached or not.
    public func uri(named word: String) -> String? {
        let known = registry.uris
        return known.first { label(of: $0) == word } ?? known.first { $0 == word || $0 == "/accessory/" + word }
    }

    /// What it is called, or for want of a name what it is.
    public func label(of uri: String) -> String {
        registry.name(of: uri) ?? watched[uri]?.device.alias ?? host?.alias(of: uri) ?? uri
    }

    /// False for one that was forgotten. What bluetoothd keeps is bluetoothd's to forget.
    public func isKnown(_ uri: String) -> Bool {
        registry.identity(of: uri) != nil || Device.bluetoothAddress(in: uri) != nil
    }

    /// Nil while it is away, or where it has none.
    public func node(of uri: String) -> String? { place(of: uri).flatMap { attached[$0]?.node } }

    /// In /sys; nil while it is away.
    public func place(of uri: String) -> String? { places.place(of: uri) }

    /// Whether a profile knows what stands there.
    public func isPlanned(at place: String) -> Bool { attached[place].map { host?.plan(for: $0) != nil } ?? false }
}
