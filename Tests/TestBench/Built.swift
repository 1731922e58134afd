// The programs that were built with these tests.
import Glibc
import WakeSystem

package enum Built {
    package static let folder: String = {
        // The tests themselves may be run by a program of the toolchain; the products lie beside the test bundle.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        let test = bundle ?? (try? File.linkTarget(of: "/proc/self/exe")) ?? ""
        return test.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// `WAKEBRIDGE_TOOL` and `WAKEBRIDGED` name other programs than those beside the tests.
    package static var tool: String { environment("WAKEBRIDGE_TOOL") ?? "\(folder)/wakebridge" }
    package static var daemon: String { environment("WAKEBRIDGED") ?? "\(folder)/wakebridged" }
    package static var tickingDaemon: String { "\(folder)/TickingDaemon" }
    package static var steppedDaemon: String { "\(folder)/SteppedDaemon" }
    package static var fixture: String { "\(folder)/FixtureHandler" }
    package static var attacker: String { "\(folder)/Attacker" }
    package static var udevProbe: String { "\(folder)/UdevProbe" }
    package static var nodeReader: String { "\(folder)/NodeReader" }
    package static var swiftExample: String { "\(folder)/ExampleHeartRate" }

    /// Runs the tool where it needs no daemon.
    package static func run(_ arguments: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child([tool] + arguments).finish()
    }
}
