// The program that starts and ends the services of a machine, and the commands by which a person asks it to. Pure.

public enum InitSystem: Hashable, Sendable {
    case systemd
    /// The scripts of a machine without systemd.
    case scripts

    public enum Verb: String, Hashable, Sendable {
        case start
        case restart
        case status
    }

    /// The command without `sudo`, as a person types it.
    public func command(_ verb: Verb, _ service: String) -> String {
        switch self {
        case .systemd: "systemctl \(verb.rawValue) \(service)"
        case .scripts: "service \(service) \(verb.rawValue)"
        }
    }

    /// The words by which a person starts the bridge again. Only systemd has a service of it, which is the system's.
    public func restartOfBridge(isOfSystem: Bool) -> String {
        switch self {
        case .systemd where isOfSystem: "sudo " + command(.restart, "wakebridged")
        case .systemd, .scripts: "end it, and start it again with '\(isOfSystem ? "sudo " : "")wakebridged'"
        }
    }
}
