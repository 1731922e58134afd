// The tool as a program that the daemon starts: its path, and the part of the daemon's environment that it gets.
import WakeSystem

package enum BridgeTool {
    /// The daemon's own tool is beside it.
    package static func path() throws(SystemError) -> String {
        let own = (try? File.linkTarget(of: "/proc/self/exe")).map { File.parent(of: $0) + "/wakebridge" }
        if let own, File.exists(own) { return own }
        return try Executable.find("wakebridge")
    }

    package static var environment: [(name: String, value: String)] {
        inherited.compactMap { name in Environment.value(of: name).map { (name: name, value: $0) } }
    }

    /// Variables for a person's desktop, for a proxy, and for what this daemon uses in the system's place.
    private static let inherited = [
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
        "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "WAKEBRIDGE_DEVICES",
        "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ]
}
