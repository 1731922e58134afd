// Whether the daemon that a command line reaches reads a configuration directory: another one is not asked to read it.
import WakeArguments
import WakeModel
import WakeSystem

extension ControlClient {
    /// Why this daemon would not read the directory, a clause; nil if it does.
    func obstacle(toReading directory: String) throws(Complaint) -> String? {
        let its = try ask(.get, "/v1/status").json["bridge"]?["configuration"]?.string
        if let its, File.isSame(its, as: directory) { return nil }
        let other = its.map { "uses \($0.printable)" } ?? "is older and does not report its directory"
        return "no running daemon uses \(directory.printable): the one at \(socketPath.printable) \(other)"
    }

    /// Throws where no daemon or one of another directory is reached.
    func require(reading directory: String) throws(Complaint) {
        if let obstacle = try obstacle(toReading: directory) {
            throw .notRunning("\(obstacle); reach another one with --runtime or --socket")
        }
    }
}
