// Where a value stands in a configuration document, put into words only where something is wrong with it.

public indirect enum ConfigurationPath: Sendable, CustomStringConvertible {
    /// The document itself.
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
