// Devices that umockdev makes up for real libudev, below programs that are told so by a story in steps.
import Testing
import WakeSystem

/// In namespaces of their own, so that what udevd would keep in /run can be written there.
package enum MadeUpDevices {
    package static let arePossible: Bool =
        Machine.makesNamespaces && (try? Child(["umockdev-wrapper", "true"]))?.finish().exit == 0
    package static let areMissing: Comment =
        "needs root, namespaces and the Debian packages umockdev and gir1.2-umockdev-1.0"

    /// Plays a story, as devices.py reads it, to its end.
    ///
    /// - Parameters:
    ///   - listener: the program that `listen` begins; empty where the story has none.
    ///   - preloading: false shows programs the machine's own devices.
    ///   - settings: of the environment, `NAME=VALUE`.
    package static func play(
        _ story: String, to listener: String = "", preloading: Bool = true, settings: [String] = []
    ) throws -> (exit: Int32, output: String, talk: String) {
        let folder = makeDirectory("/tmp/wakebridge-story-XXXXXX")
        defer { Directory.removeTree(folder) }
        put(story, at: "\(folder)/story")
        let driver = "\(packageFolder)/Tests/TestBench/devices.py"
        let wrapper = preloading ? "umockdev-wrapper " : ""
        let command =
            "mount -t tmpfs tmpfs /run && "
            + "exec \(wrapper)/usr/bin/python3 '\(driver)' '\(listener)' <'\(folder)/story'"
        return try Child(["env"] + settings + ["unshare", "--mount", "--net", "sh", "-c", command]).finish()
    }
}
