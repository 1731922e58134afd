// Finds the program that starts the services of this machine.
import WakeModel

extension InitSystem {
    public static let ofThisMachine = InitSystem(below: "")

    /// - Parameter root: the folder of the machine's files; empty for this machine.
    public init(below root: String) {
        self = File.exists(root + "/run/systemd/system") ? .systemd : .scripts
    }
}
