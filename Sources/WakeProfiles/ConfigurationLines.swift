// The lines of a configuration document's values, looked up only to report a fault.
import WakeModel

struct ConfigurationLines {
    private let text: [UInt8]
    private let document: JSONValue
    /// The offset of each value: a value before those in it.
    private let offsets: [Int]

    /// Nil for a text that cannot be read; the sentence about that names the line.
    init?(of text: [UInt8]) {
        guard let document = try? JSONValue(json5: text), let offsets = try? JSONValue.offsets(json5: text) else {
            return nil
        }
        (self.text, self.document, self.offsets) = (text, document, offsets)
    }

    /// From 1. For a missing value, the line at which the object begins that lacks it; nil where that is the document.
    func line(of path: ConfigurationPath) -> Int? {
        guard let found = find(path), found.index > 0 || !found.isLack, offsets.indices.contains(found.index) else {
            return nil
        }
        return text[..<offsets[found.index]].count { $0 == UInt8(ascii: "\n") } + 1
    }

    /// A value, and its place among `offsets`; of a lack, the object or list that should hold it.
    private struct Found {
        var index: Int
        var value: JSONValue
        var isLack = false
    }

    private func find(_ path: ConfigurationPath) -> Found? {
        switch path {
        case .document: return Found(index: 0, value: document)
        case .value(let key, let outer):
            guard let found = find(outer), !found.isLack else { return find(outer) }
            guard case .object(let members) = found.value else { return nil }
            return child(of: found, members.map(\.value), at: members.firstIndex { $0.name == key })
        case .element(let outer, let place):
            guard let found = find(outer), !found.isLack else { return find(outer) }
            guard case .array(let values) = found.value else { return nil }
            return child(of: found, values, at: values.indices.contains(place) ? place : nil)
        }
    }

    private func child(of outer: Found, _ values: [JSONValue], at place: Int?) -> Found {
        guard let place else { return Found(index: outer.index, value: outer.value, isLack: true) }
        return Found(index: values[..<place].reduce(outer.index + 1) { $0 + $1.size }, value: values[place])
    }
}

extension JSONValue {
    /// The values in it, and itself.
    fileprivate var size: Int {
        switch self {
        case .null, .boolean, .integer, .number, .string: 1
        case .array(let values): values.reduce(1) { $0 + $1.size }
        case .object(let members): members.reduce(1) { $0 + $1.value.size }
        }
    }
}

extension ConfigurationErrors {
    /// The same faults with their lines in `text`, the file's.
    public func located(in text: [UInt8]) -> ConfigurationErrors {
        guard all.contains(where: { $0.place != nil }), let lines = ConfigurationLines(of: text) else { return self }
        return ConfigurationErrors(all.map { $0.located(in: lines) })
    }
}
