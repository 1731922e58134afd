// The recordings that the end-to-end tests play.
import Glibc
import TestBench
import Testing

let heartRateTrace = "\(packageFolder)/Devices/heart-rate-monitor/recording.trace"

/// Recordings of real devices, which are not part of the package.
enum Captures {
    static let folder = environment("WAKEBRIDGE_CAPTURES") ?? "\(packageFolder)/../shared/captures"
    static var exist: Bool { access("\(folder)/bluetooth", R_OK) == 0 }
    /// Made here: Swift 6.0 does not survive an interpolation in an attribute.
    static let missing = Comment(rawValue: "no captures at \(folder); WAKEBRIDGE_CAPTURES says where they are")

    static func path(_ name: String) -> String { "\(folder)/bluetooth/\(name).btsnoop" }
}
