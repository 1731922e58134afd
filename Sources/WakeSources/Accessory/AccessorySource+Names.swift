// Finding the accessory that somebody means: by its node, by what people call it, or by its source.
import WakeModel
import WakeSystem

extension AccessorySource {
    /// Who stands at this node or place in /sys, where that is beyond doubt.
    public func source(at word: String) -> String? { record(at: word).flatMap { places[$0.path] } }

    /// A source, with or without `/accessory/`, or a name, of one that is known, attached or not.
    public func source(named word: String) -> String? {
        let known = registry.sources
        return known.first { label(of: $0) == word } ?? known.first { $0 == word || $0 == "/accessory/" + word }
    }

    /// What it is called, or for want of a name what it is.
    public func label(of source: String) -> String {
        registry.name(of: source) ?? watched[source]?.device.alias ?? host?.alias(of: source) ?? source
    }

    /// False for one that was forgotten. What bluetoothd keeps is bluetoothd's to forget.
    public func isKnown(_ source: String) -> Bool {
        registry.identity(of: source) != nil || Device.bluetoothAddress(in: source) != nil
    }

    /// Nil while it is away, or where it has none.
    public func node(of source: String) -> String? { place(of: source).flatMap { attached[$0]?.node } }

    /// In /sys; nil while it is away.
    public func place(of source: String) -> String? { places.place(of: source) }

    /// Whether a profile knows what stands there.
    public func isPlanned(at place: String) -> Bool { attached[place].map { host?.plan(for: $0) != nil } ?? false }
}
