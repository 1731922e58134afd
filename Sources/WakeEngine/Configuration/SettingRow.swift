// The settings that are rows: each key with its range and the property that it sets.
import WakeModel
import WakeProfiles

/// How the value of a key is read, and how the value in force is shown.
enum SettingRow: Sendable {
    typealias Path<Value> = WritableKeyPath<BridgeSettings, Value> & Sendable

    case flag(Path<Bool>)
    case integer(ClosedRange<Int>, Path<Int>)
    case optionalInteger(ClosedRange<Int>, Path<Int?>)
    case span(ClosedRange<TimeSpan>, Path<TimeSpan>)
    case optionalSpan(ClosedRange<TimeSpan>, Path<TimeSpan?>)
    /// In bytes.
    case size(ClosedRange<Int>, Path<Int>)

    /// Without a value, or with a faulty one, the default stays.
    func read(_ key: String, of object: ConfigurationObject, into settings: inout BridgeSettings) {
        func set<Value>(_ path: Path<Value>, _ value: Value?) { if let value { settings[keyPath: path] = value } }
        switch self {
        case .flag(let path): set(path, object.flag(key))
        case .integer(let range, let path): set(path, object.integer(key, in: range))
        case .optionalInteger(let range, let path): settings[keyPath: path] = object.integer(key, in: range)
        case .span(let range, let path): set(path, object.span(key, in: range))
        case .optionalSpan(let range, let path): settings[keyPath: path] = object.span(key, in: range)
        case .size(let range, let path): set(path, object.size(key, in: range))
        }
    }

    /// As the file would write it; nil where nothing is set.
    func text(in settings: BridgeSettings) -> String? {
        switch self {
        case .flag(let path): "\(settings[keyPath: path])"
        case .integer(_, let path): "\(settings[keyPath: path])"
        case .optionalInteger(_, let path): settings[keyPath: path].map { "\($0)" }
        case .span(_, let path): settings[keyPath: path].text
        case .optionalSpan(_, let path): settings[keyPath: path]?.text
        case .size(_, let path): byteCountText(settings[keyPath: path])
        }
    }
}

/// An object of the file whose keys are all rows.
struct SettingGroup: Sendable {
    let name: String
    let rows: KeyValuePairs<String, SettingRow>

    init(_ name: String, _ rows: KeyValuePairs<String, SettingRow>) { (self.name, self.rows) = (name, rows) }

    var keys: [String] { rows.map(\.key) }

    func read(from object: ConfigurationObject, into settings: inout BridgeSettings) {
        guard let found = object.object(name, keys: keys) else { return }
        for (key, row) in rows { row.read(key, of: found, into: &settings) }
    }
}
