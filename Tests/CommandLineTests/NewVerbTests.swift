// New handlers and profiles: what is written works as it is, and nothing is overwritten.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("New handlers and profiles") final class NewVerbTests {
    private let folder = makeDirectory("/tmp/wakenew.XXXXXX")

    deinit { Directory.removeTree(folder) }

    private func tool(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child(["env", "-C", folder, "XDG_CONFIG_HOME=\(folder)/config", Built.tool] + words).finish()
    }

    @Test(
        "a new handler in shell or Python acknowledges all that the profile's recording holds, and logs each value",
        arguments: [("shell", "sh"), ("python", "py")])
    func handler(language: String, ending: String) throws {
        let made = try tool(
            "new", "handler", "hr", "-p", "heart-rate-monitor", "-l", language, "--directory", folder + "/made")
        let (program, manifest) = (folder + "/made/hr.\(ending)", folder + "/made/hr.json5")
        #expect(made.exit == 0 && made.output.hasPrefix("wrote \(program)\nwrote \(manifest)\nnext:\n"), "\(made)")
        #expect(text(of: manifest).contains("exec: [\"./hr.\(ending)\"]"))
        #expect(text(of: manifest).contains("user: \"auto\"") == Machine.isRoot)
        // The module of this checkout is nowhere where Python looks by itself.
        #expect(text(of: manifest).contains("PYTHONPATH: \"\(packageFolder)/Packages/python\"") == (ending == "py"))
        #expect(try tool("check", manifest).exit == 0)
        let trace = "\(packageFolder)/Devices/heart-rate-monitor/recording.trace"
        let played = try tool("replay", trace, "--speed", "max", "--manifest", manifest)
        #expect(played.exit == 0 && played.talk.contains("96 events, 96 acknowledged"), "\(played.talk)")
        let lines = played.output.split(separator: "\n")
        #expect(lines.first == "chest-strap connected" && lines.last == "chest-strap disconnected", "\(played.output)")
        #expect(lines.count { $0.contains("\"bpm\":") } == 91 || lines.count { $0.contains("\"bpm\": ") } == 91)
    }

    @Test("a new handler of a device has the profile that the daemon says, and watches that device alone")
    func device() throws {
        let fixture = try Fixture { request in
            // The daemon knows it by its node too.
            ["gps", "/dev/ttyACM0"].contains(request.parameter("device") ?? "")
                ? .json(
                    status: 200,
                    Array(#"{"devices":[{"alias":"gps","source":"/accessory/a:b:c","profile":"gps-receiver"}]}"#.utf8))
                : .json(
                    status: 404,
                    Array(#"{"error":{"code":"unknown-device","message":"there is no device 'gsp'","advice":""}}"#.utf8)
                )
        }
        let words = ["new", "handler", "way", "--device", "gps", "--directory", folder]
        let made = try fixture.run([Built.tool, "--socket", fixture.path] + words)
        #expect(made.exit == 0, "\(made)")
        let manifest = text(of: folder + "/way.json5")
        #expect(manifest.contains("modes: [\"external-accessory\"]"))
        #expect(manifest.contains("watch: [{ profile: \"gps-receiver\", device: \"gps\" }]"))
        let lost = try fixture.run([Built.tool, "--socket", fixture.path, "new", "handler", "a", "--device", "gsp"])
        #expect(lost.exit == 5 && lost.talk.contains("there is no device 'gsp'"), "\(lost)")
        let node = ["new", "handler", "node", "--device", "/dev/ttyACM0", "--directory", folder]
        #expect(try fixture.run([Built.tool, "--socket", fixture.path] + node).exit == 0)
        #expect(text(of: folder + "/node.json5").contains("device: \"gps\" }]"))
    }

    @Test("whatever a device calls itself, what is written of it can be read")
    func strangeNames() throws {
        let words = ["-p", "heart-rate-monitor", "--device", "a\"\\\nb", "--directory", folder]
        let made = try Child([Built.tool, "new", "handler", "odd"] + words).finish()
        #expect(made.exit == 0, "\(made)")
        let checked = try tool("check", folder + "/odd.json5")
        #expect(checked.exit == 0 && checked.output.contains("manifest without a fault"), "\(checked)")
    }

    @Test(
        "without --directory they go where a daemon of the same user looks, and the next commands start and ask that daemon"
    )
    func place() throws {
        let ordinary = Machine.isRoot ? ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"] : []
        try Directory.create(folder + "/config", mode: 0o777)
        chmod(folder + "/config", 0o777)
        let words = ["new", "handler", "hr", "-p", "heart-rate-monitor", "--json"]
        let made = try Child(
            ordinary + ["env", "-C", "/tmp", "HOME=\(folder)", "XDG_CONFIG_HOME=\(folder)/config", Built.tool] + words
        ).finish()
        let manifests = folder + "/config/wakebridge/handlers.d"
        let next = [
            "systemctl --user enable --now wakebridged  # your own; the system's reads /etc/wakebridge",
            "wakebridge logs -f hr", "wakebridge simulate wake hr",
        ]
        let told = try JSONValue(parsing: Array(made.output.utf8))
        let files = ["\(manifests)/hr.sh", "\(manifests)/hr.json5"]
        #expect(told["files"]?.array?.compactMap(\.string) == files, "\(made)")
        #expect(told["next"]?.array?.compactMap(\.string) == next, "\(made)")
        #expect(!text(of: manifests + "/hr.json5").contains("user:"))
        #expect(names(in: manifests) == ["hr.json5", "hr.sh"])
    }

    @Test("a file that is there is never overwritten, and of two neither is written")
    func refuses() throws {
        put("mine", at: folder + "/hr.json5")
        let refused = try tool("new", "handler", "hr", "-p", "heart-rate-monitor", "--directory", folder)
        #expect(refused.exit == 5 && refused.talk.contains("\(folder)/hr.json5: it is there already"), "\(refused)")
        #expect(text(of: folder + "/hr.json5") == "mine" && !File.exists(folder + "/hr.sh"))
        // A link that leads nowhere yet is there too.
        symlink(folder + "/target", folder + "/link.sh")
        #expect(try tool("new", "handler", "link", "-p", "heart-rate-monitor", "--directory", folder).exit == 5)
        #expect(try File.linkTarget(of: folder + "/link.sh") == folder + "/target")
    }

    @Test("a place that may not be written to is exit 4, with what to do", .enabled(if: Machine.isRoot, "root alone"))
    func denied() throws {
        for words in [["profile", "new", "p", "--directory", "/etc/x"], ["report", "--output", "/etc/x"]] {
            let refused = try Child(
                ["setpriv", "--reuid=1", "--regid=1", "--clear-groups", "env", "-C", "/", Built.tool] + words
            ).finish()
            #expect(refused.exit == 4 && refused.talk.contains("name another place with --"), "\(refused)")
        }
    }

    /// A library with a template of a few words.
    private func putLibrary(at library: String) throws {
        for path in ["Template/Sources/@MODULE@", "Sources/WakeHandler", "Devices/gatt", "Devices/other"] {
            try Directory.create("\(library)/\(path)", mode: 0o755)
        }
        put("name: @NAME@ target: @MODULE@", at: library + "/Template/Package.swift")
        put("// @MODULE@", at: library + "/Template/Sources/@MODULE@/main.swift")
        put("{ watch: [{ profile: \"another\" }] }", at: library + "/Template/@NAME@.json5")
        put("// a package", at: library + "/Package.swift")
        put("// a session", at: library + "/Sources/WakeHandler/Session.swift")
        put("{}", at: library + "/Devices/gatt/2a37.json5")
        put("{}", at: library + "/Devices/other/profile.json5")
    }

    private func newInSwift(_ variables: String...) throws -> (exit: Int32, output: String, talk: String) {
        let words = ["new", "handler", "hr-log", "-l", "swift", "-p", "heart-rate-monitor"]
        return try Child(["env", "-C", folder] + variables + [Built.tool] + words).finish()
    }

    @Test(
        "a new handler in Swift is the template with its names filled in, and the library beside it with no other path")
    func swift() throws {
        let library = folder + "/wakehandler"
        try putLibrary(at: library)
        let made = try newInSwift("WAKEBRIDGE_WAKEHANDLER=\(library)")
        let package = folder + "/hr-log"
        #expect(
            made.exit == 0
                && made.output.hasSuffix(
                    "wrote \(package)/Packages/wakehandler\nnext:\n  cd \(package)\n  swift test\n  swift build -c release\n"
                ),
            "\(made)")
        #expect(text(of: package + "/Package.swift") == "name: hr-log target: HrLog")
        #expect(text(of: package + "/Sources/HrLog/main.swift") == "// HrLog")
        let manifest = text(of: package + "/hr-log.json5")
        #expect(
            manifest.contains("exec: [\"/opt/hr-log/HrLog\"]") && manifest.contains("profile: \"heart-rate-monitor\""))
        #expect(names(in: package) == ["Package.swift", "Packages", "Sources", "hr-log.json5"])
        let copied = package + "/Packages/wakehandler"
        #expect(names(in: copied) == ["Devices", "Package.swift", "Sources"])
        #expect(text(of: copied + "/Sources/WakeHandler/Session.swift") == "// a session")
        #expect(names(in: copied + "/Devices") == ["gatt"])
    }

    @Test(
        "a new handler in Swift goes into a directory that is there, unless it would overwrite files, which are named")
    func swiftInto() throws {
        let library = folder + "/wakehandler"
        try putLibrary(at: library)
        let package = folder + "/hr-log"
        try Directory.create(package + "/.git", mode: 0o755)
        put("mine", at: package + "/NOTES")
        put("mine", at: package + "/Sources")
        put("mine", at: package + "/Package.swift")
        let refused = try newInSwift("WAKEBRIDGE_WAKEHANDLER=\(library)")
        let sentence =
            "cannot write into \(package): Package.swift, Sources would be overwritten; move them away, or name another "
            + "directory with --directory\n"
        #expect(refused.exit == 5 && refused.talk.hasSuffix(sentence), "\(refused)")
        #expect(names(in: package) == [".git", "NOTES", "Package.swift", "Sources"])
        for name in ["Sources", "Package.swift"] { unlink(package + "/" + name) }
        let made = try newInSwift("WAKEBRIDGE_WAKEHANDLER=\(library)")
        #expect(made.exit == 0 && text(of: package + "/NOTES") == "mine", "\(made)")
        #expect(File.exists(package + "/Packages/wakehandler/Sources/WakeHandler/Session.swift"))
        let again = try newInSwift("WAKEBRIDGE_WAKEHANDLER=\(library)")
        #expect(again.exit == 5 && again.talk.contains(" and 3 more would be overwritten; move them away"), "\(again)")
        let file = try Child([
            "env", "WAKEBRIDGE_WAKEHANDLER=\(library)", Built.tool, "new", "handler", "x", "-l", "swift", "-p",
            "heart-rate-monitor", "--directory", package + "/NOTES",
        ]).finish()
        #expect(file.exit == 5 && file.talk.contains("\(package)/NOTES: it is there already"), "\(file)")
    }

    @Test("a library of handlers without its sources is refused, and nothing is written")
    func libraryIsIncomplete() throws {
        let library = folder + "/half"
        try putLibrary(at: library)
        Directory.removeTree(library + "/Sources")
        let refused = try newInSwift("WAKEBRIDGE_WAKEHANDLER=\(library)")
        #expect(
            refused.exit == 1 && refused.talk.contains("cannot use the library of handlers in \(library)"), "\(refused)"
        )
        #expect(refused.talk.contains("'make wakehandler'") && !File.exists(folder + "/hr-log"))
    }

    @Test("from a checkout whose library is not laid out, a new handler in Swift says how to lay it out")
    func checkout() throws {
        let (checkout, program) = (folder + "/checkout", folder + "/checkout/.build/debug/wakebridge")
        try Directory.create(checkout + "/Packages/wakehandler/Template", mode: 0o755)
        try Directory.create(File.parent(of: program), mode: 0o755)
        put(bytes(of: Built.tool), at: program, mode: 0o755)
        let words = ["new", "handler", "hr-log", "-l", "swift", "-p", "heart-rate-monitor"]
        let call = ["env", "-C", folder, "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices", program] + words
        let refused = try Child(call).finish()
        #expect(refused.exit == 1 && refused.talk.contains("run 'make wakehandler' in that folder"), "\(refused)")
        try putLibrary(at: checkout + "/.build/packages/wakehandler")
        #expect(try Child(call).finish().exit == 0)
        #expect(File.exists(folder + "/hr-log/Packages/wakehandler/Sources/WakeHandler/Session.swift"))
    }

    @Test(
        "the manifest of a new handler in Python names the module's folder, and without the module there is no handler")
    func pythonPath() throws {
        let program = folder + "/opt/bin/wakebridge"
        try Directory.create(File.parent(of: program), mode: 0o755)
        put(bytes(of: Built.tool), at: program, mode: 0o755)
        let words = ["new", "handler", "x", "-l", "python", "-p", "heart-rate-monitor", "--directory", folder]
        let call = ["env", "-C", folder, "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices", program] + words
        let refused = try Child(call).finish()
        #expect(refused.exit == 1 && refused.talk.contains("cannot find the Python module of handlers"), "\(refused)")
        let module = folder + "/opt/lib/python3/dist-packages"
        try Directory.create(module + "/wakehandler", mode: 0o755)
        put("", at: module + "/wakehandler/__init__.py")
        #expect(try Child(call).finish().exit == 0)
        #expect(text(of: folder + "/x.json5").contains("env: { PYTHONPATH: \"\(module)\" }"))
    }

    @Test("without the library of handlers a new handler in Swift says what to install")
    func libraryIsMissing() throws {
        let copy = folder + "/bin/wakebridge"
        try Directory.create(folder + "/bin", mode: 0o755)
        put(bytes(of: Built.tool), at: copy, mode: 0o755)
        let devices = "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices"
        let words = ["new", "handler", "x", "-l", "swift", "-p", "heart-rate-monitor"]
        let refused = try Child(["env", "-C", folder, devices, copy] + words).finish()
        #expect(refused.exit == 1 && refused.talk.contains("install it with 'make install'"), "\(refused)")
        #expect(refused.talk.contains("there is no \(folder)/share/wakebridge/wakehandler"))
    }

    @Test("a new profile has no fault, and every key that a profile of its kind needs is there or in a comment")
    func profile() throws {
        let made = try tool("profile", "new", "my-strap", "--directory", folder)
        let path = folder + "/my-strap/profile.json5"
        #expect(made.exit == 0 && made.output.hasPrefix("wrote \(path)\n"), "\(made)")
        let checked = try tool("check", path)
        #expect(checked.exit == 0, "\(checked)")
        for key in ["name", "title", "mode", "match", "notify", "read", "characteristics"] {
            #expect(text(of: path).contains("  \(key): "))
        }
    }

    @Test(
        "a directory that is named by a dot is printed without it, and --config names the place of a daemon's manifests"
    )
    func places() throws {
        let here = try tool("new", "handler", "hr", "-p", "heart-rate-monitor", "--directory", ".")
        #expect(here.exit == 0 && here.output.hasPrefix("wrote \(folder)/hr.sh\n"), "\(here)")
        try Directory.create(folder + "/etc", mode: 0o755)
        let there = try tool("new", "handler", "hr", "-p", "heart-rate-monitor", "-c", "etc")
        #expect(there.exit == 0 && there.output.hasPrefix("wrote \(folder)/etc/handlers.d/hr.sh\n"), "\(there)")
    }

    @Test("a check of several folders goes on past one without a profile, and names it")
    func checksOthers() throws {
        _ = try tool("profile", "new", "my-strap", "--directory", folder)
        try Directory.create(folder + "/gatt", mode: 0o755)
        let checked = try tool("profile", "check", folder + "/gatt", folder + "/my-strap")
        #expect(checked.exit == 0 && checked.output.hasPrefix("\(folder)/my-strap: 0 messages, 0 faults"), "\(checked)")
        #expect(checked.talk == "warning: \(folder)/gatt has no profile.json5; it is left out\n")
        #expect(try tool("profile", "check", folder + "/gatt").exit == 1)
    }

    @Test("a profile that is still a draft plays a trace from the folder that --profiles names")
    func draftedProfile() throws {
        _ = try tool("profile", "new", "my-strap", "--directory", folder + "/drafts")
        let trace = folder + "/a.trace"
        put(
            "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 service=180d\nend\n",
            at: trace)
        put(
            "{ exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [{ profile: \"my-strap\" }] }",
            at: folder + "/a.json5")
        let words = ["replay", trace, "--speed", "max", "--manifest", folder + "/a.json5"]
        func play(_ more: [String]) throws -> (exit: Int32, output: String, talk: String) {
            try Child(["env", "XDG_CONFIG_HOME=\(folder)/config", Built.tool] + words + more).finish()
        }
        #expect(try play([]).talk.contains("my-strap"))
        let played = try play(["--profiles", folder + "/drafts"])
        #expect(played.exit == 0 && played.talk.contains("0 events"), "\(played)")
    }

    @Test("a new profile from a peripheral that bluetoothd knows matches the services that tell it from others")
    func profileOfPeripheral() throws {
        let bluetooth = try ScriptedBluetooth(
            #"{"devices": [{"address": "C0:DE:00:00:00:10", "name": "Box 7", "uuids": ["1800", "181a"], "known": true}]}"#
        )
        let made = try bluetooth.tool("profile", "new", "box", "--from", "Box 7", "--directory", folder)
        #expect(made.exit == 0, "\(made)")
        #expect(text(of: folder + "/box/profile.json5").contains("match: { services: [\"181a\"] }"))
        #expect(try tool("check", folder + "/box/profile.json5").exit == 0)
    }

    @Test("a new handler is told of once the daemon has taken it up, so that the next command finds it")
    func waitsForDaemon() throws {
        var asked = 0
        let fixture = try Fixture(group: Machine.isRoot ? 1 : nil) { _ in
            asked += 1
            let known = asked < 3 ? "" : #"{"id":"hr"}"#
            return .json(status: 200, Array("{\"handlers\":[\(known)]}".utf8))
        }
        chmod(fixture.directory, 0o755)
        try Directory.create(folder + "/config", mode: 0o777)
        chmod(folder + "/config", 0o777)
        let ordinary = Machine.isRoot ? ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"] : []
        let places = ["env", "-C", "/tmp", "HOME=\(folder)", "XDG_CONFIG_HOME=\(folder)/config"]
        let words = ["new", "handler", "hr", "-p", "heart-rate-monitor", "--socket", fixture.path]
        let made = try fixture.run(ordinary + places + [Built.tool] + words)
        #expect(made.exit == 0 && asked == 3, "\(asked) \(made)")
    }
}
