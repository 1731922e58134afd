// The path of a value in a configuration document; its text is built only for a fault.

public indirect enum ConfigurationPath: Sendable, CustomStringConvertible {
    /// The whole document.
    case document
    case value(of: String, ConfigurationPath)
    case element(ConfigurationPath, Int)

    func member(_ key: String) -> ConfigurationPath { .value(of: key, self) }

    /// `watch[0].profile`; empty for the document.
    public var description: String {
        switch self {
        case .document: ""
        case .value(let key, .document): key
        case .value(let key, let object): "\(object).\(key)"
        case .element(let list, let index): "\(list)[\(index)]"
        }
    }
}
