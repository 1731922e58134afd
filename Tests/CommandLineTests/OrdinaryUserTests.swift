// The tool of a user who is not root: which daemon it asks, and which profiles it knows.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("An ordinary user's tool", .enabled(if: Machine.isRoot, "to become another user"))
final class OrdinaryUserTests {
    private let home: String
    /// Before a command.
    private var ordinaryUser: [String] {
        ["setpriv", "--reuid=65534", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin", "HOME=\(home)"]
    }

    init() throws {
        home = try Directory.makeTemporary(prefix: "wakeuser")
        chmod(home, 0o755)
    }

    deinit { Directory.removeTree(home) }

    private func profile(_ name: String, _ text: String) throws {
        let folder = "\(home)/.config/wakebridge/Devices/\(name)"
        try Directory.create(folder, mode: 0o755)
        put(text, at: folder + "/profile.json5")
    }

    @Test("replay and udev-rules know the user's own profiles, and one of a shipped name goes before that")
    func ownProfiles() throws {
        try profile(
            "heart-rate-monitor",
            """
            { name: "heart-rate-monitor", title: "Mine", mode: "bluetooth-central", match: { services: ["180d"] },
              notify: ["2a37"], characteristics: { "2a37": { name: "heart", fields: [{ name: "mine", type: "uint16" }] } } }
            """)
        try profile(
            "scale",
            """
            { name: "scale", title: "My scale", mode: "external-accessory", node: "serial",
              match: { properties: { ID_VENDOR_ID: "1a86" } } }
            """)
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0 1 connect
            +1 1 data 2a37 0648
            end

            """, at: home + "/strap.trace")
        let replay = try Child(ordinaryUser + [Built.tool, "replay", home + "/strap.trace", "--speed", "max"]).finish()
        #expect(replay.exit == 0 && replay.output.contains(#""value":{"mine":18438}"#), "\(replay)")
        let rules = try Child(ordinaryUser + [Built.tool, "udev-rules"]).finish()
        #expect(rules.exit == 0 && rules.output.contains("# scale: My scale"), "\(rules)")
    }

    /// In a /run of its own, which `prepare` fills. The checkout may lie below what is mounted over, so it is bound back.
    private func tool(
        _ words: String..., of program: String = Built.tool, saying setting: String..., after prepare: String = "true"
    ) throws -> (exit: Int32, output: String, talk: String) {
        let script = """
            exec 9<"$0" && mount -t tmpfs tmpfs /run && \(prepare) &&
            mkdir -p "$0" && mount --no-canonicalize --bind /proc/self/fd/9 "$0" && exec 9<&- && exec "$@"
            """
        let command = ordinaryUser + setting + [program] + words
        return try Child(["unshare", "--mount", "--net", "sh", "-c", script, packageFolder] + command).finish()
    }

    /// A socket in place of the system's daemon: it admits no user.
    private let refusing =
        "mkdir -m 755 /run/wakebridge && python3 -c 'import socket; socket.socket(socket.AF_UNIX)"
        + ".bind(\"/run/wakebridge/control.sock\")' && chmod 600 /run/wakebridge/control.sock"

    @Test(
        "a system's daemon that lets him in not is told as that, with what to do, and never restarted",
        .enabled(if: Machine.makesNamespaces))
    func refused() throws {
        let status = try tool("status", after: refusing)
        #expect(status.exit == 4)
        #expect(
            status.talk.contains(
                "user 65534 may not use this bridge's control socket; use sudo, or be user 0 or a member of the group that"
            ),
            "\(status)")
        let doctor = try tool("doctor", after: refusing)
        #expect(
            doctor.output.contains("this user may not speak to wakebridged at /run/wakebridge/control.sock"),
            "\(doctor)")
        #expect(doctor.output.contains("fix: sudo wakebridge doctor"))
        #expect(!doctor.output.contains("restart wakebridged"))
    }

    @Test(
        "a directory in /tmp that another user has made is refused by tool, doctor and daemon, with its owner and what to do",
        .enabled(if: Machine.makesNamespaces), arguments: ["mkdir -m 777", "ln -s /run"])
    func foreignPlace(make: String) throws {
        let place = "/tmp/wakebridge-65534"
        let prepare = "mount -t tmpfs tmpfs /tmp && \(make) \(place)"
        let sentence =
            "could not use \(place): Operation not permitted (EPERM); it belongs to root; have it removed, or set"
        let status = try tool("status", after: prepare)
        #expect(
            status.exit == 1 && status.talk.contains("cannot reach wakebridged: \(sentence) XDG_RUNTIME_DIR"),
            "\(status)")
        let doctor = try tool("doctor", after: prepare)
        #expect(doctor.output.contains(sentence), "\(doctor)")
        for daemon in [
            try tool(of: Built.daemon, after: prepare), try tool("--sweep", of: Built.daemon, after: prepare),
        ] {
            #expect(daemon.exit == 1 && daemon.talk.contains("cannot s") && daemon.talk.contains(sentence), "\(daemon)")
        }
        // The same without a home.
        let rules = try tool("udev-rules", saying: "XDG_CONFIG_HOME=\(place)", after: prepare)
        #expect(rules.talk.contains(sentence), "\(rules)")
    }

    @Test(
        "a directory in /tmp of the user's own is used, and the home of the account where HOME is unset",
        .enabled(if: Machine.makesNamespaces))
    func ownPlace() throws {
        let prepare = "mount -t tmpfs tmpfs /tmp && mkdir /tmp/wakebridge-65534 && chown 65534 /tmp/wakebridge-65534"
        let status = try tool("status", after: prepare)
        #expect(status.talk.contains("/tmp/wakebridge-65534/wakebridge/control.sock: there is no such"), "\(status)")
        let help = try Child(ordinaryUser + ["HOME=", Built.daemon, "--help"]).finish()
        let home = getpwuid(65534).map { String(cString: $0.pointee.pw_dir) } ?? "none"
        #expect(help.output.contains("--config     \(home)/.config/wakebridge\n"), "\(help)")
    }

    @Test(
        "a runtime directory of another user, as sudo -E leaves it in the environment, is not where a user's socket is looked for",
        .enabled(if: Machine.makesNamespaces), arguments: ["root", "daemon"])
    func foreignRuntime(owner: String) throws {
        let prepare = "mkdir -m 755 /run/other && chown \(owner) /run/other"
        let status = try tool("status", saying: "XDG_RUNTIME_DIR=/run/other", after: prepare)
        #expect(status.talk.contains("at /tmp/wakebridge-65534/wakebridge/control.sock: there is no such"), "\(status)")
        let own = try tool(
            "status", saying: "XDG_RUNTIME_DIR=/run/other", after: prepare + " && chown 65534 /run/other")
        #expect(own.talk.contains("at /run/other/wakebridge/control.sock: there is no such"), "\(own)")
    }

    @Test(
        "a user's daemon does not start in a home of another user, and says whose it is",
        .enabled(if: Machine.makesNamespaces))
    func foreignHome() throws {
        let prepare = "mkdir /run/other && chown daemon /run/other && chmod 777 /run/other"
        let daemon = try tool(of: Built.daemon, saying: "XDG_STATE_HOME=/run/other/state", after: prepare)
        let sentence =
            "could not use /run/other/state/wakebridge: Operation not permitted (EPERM); /run/other belongs to daemon"
        #expect(daemon.exit == 1 && daemon.talk.contains(sentence), "\(daemon)")
    }

    @Test("where neither daemon is there, both sockets are named", .enabled(if: Machine.makesNamespaces))
    func absent() throws {
        let status = try tool("status")
        let own = "/tmp/wakebridge-65534/wakebridge/control.sock"
        #expect(
            status.talk.contains(
                "at \(own): there is no such socket, nor /run/wakebridge/control.sock; 'wakebridge doctor' says how"),
            "\(status)")
        let doctor = try tool("doctor")
        #expect(doctor.output.contains("there is no \(own), nor /run/wakebridge/control.sock"), "\(doctor)")
    }
}
