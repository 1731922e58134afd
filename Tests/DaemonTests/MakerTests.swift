// Ways in which a maker gets a profile, a manifest or a program wrong, and the sentence that names each.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// One way, and the end of what `why` says of it.
private struct Mistake: Sendable, CustomTestStringConvertible {
    var id: String
    var testDescription: String
    var sentence: String

    init(_ id: String, _ mistake: String, _ sentence: String) {
        (self.id, testDescription, self.sentence) = (id, mistake, sentence)
    }
}

@Suite("What a maker gets wrong, and what why says", .serialized, .timeLimit(.minutes(3)))
struct MakerTests {
    private static let wanted = "4fafc201-1fb5-459e-8fcc-c5c9c331914b"
    private static let offered = "4fafc201-1fb5-459e-8fcc-c5c9c3319999"
    private static let waiver = "remove \"bonded\" from require in the manifest"

    private static let mistakes = [
        Mistake(
            "plant", "the service of a profile differs in four digits",
            "no device with the profile plant is known; Strap 1 is connected, and the profile plant asks for the service "
                + "\(wanted), and it offers \(offered)"),
        Mistake(
            "pulse", "a profile listens to a characteristic that the device lacks",
            "Strap 2 is connected, and the profile pulse listens to the characteristic 2a99, and it offers 2a37"),
        Mistake(
            "lamp", "the name that a profile asks for begins otherwise",
            "no device with the profile lamp is known; Strap 3 is connected, and the profile lamp asks for a name that "
                + "begins with \"Lamp\", and it is called \"Strap\""),
        Mistake(
            "meter", "a device that fits was never adopted",
            "no device with the profile meter is known; Strap 4 is connected, fits the profile and is not trusted; "
                + "adopt it with: wakebridge pair C0:DE:00:00:00:04, with --no-bond if it keeps no bond"),
        Mistake(
            "wary", "a manifest requires a bond, and the device was taken without one",
            "its manifest requires bonded devices, and Strap 5 is not bonded; bond it with: wakebridge pair 'Strap 5'; "
                + "where it cannot bond, \(waiver)"),
        Mistake(
            "shy", "a manifest requires a bond, and the paired device keeps none",
            "its manifest requires bonded devices, and Strap 6 is paired and keeps no bond; \(waiver)"),
        Mistake(
            "early", "another profile with more demands takes the device",
            "no device with the profile early is known; Strap 7 is connected, and the profile early fits it too, and weather "
                + "asks for more, so it has the profile weather"),
        Mistake("typo", "a manifest names a device by a wrong name", "no device is called Strap 55; known: Strap 5"),
        Mistake(
            "other", "a manifest watches a device by a profile that it does not have",
            "Strap 5 has the profile bonder, and its manifest watches plant"),
        Mistake(
            "stdout", "a program writes its acknowledgements to stdout",
            "it wrote an acknowledgement to stdout, which is its log; write it to descriptor 3"),
        Mistake(
            "gone", "the program of a manifest is not there",
            "put it there, or correct exec"),
    ]

    private let bus: PrivateBus
    private let bluez: ScriptedBluez
    private let daemon: RunningDaemon

    init() throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        daemon = try RunningDaemon()
        daemon.busAddress = bus.address
        let peripherals = (1...7).flatMap { ["peripheral \($0) hci0"] }
        let services = [
            "offer 1 \(Self.offered)", "offer 3 0000fff0-0000-1000-8000-00805f9b34fb",
            "offer 4 0000fff1-0000-1000-8000-00805f9b34fb", "offer 5 0000fff5-0000-1000-8000-00805f9b34fb",
            "offer 6 0000fff6-0000-1000-8000-00805f9b34fb", "offer 7 0000181a-0000-1000-8000-00805f9b34fb",
        ]
        let bonds = ["set 4 Trusted no", "set 7 Trusted no", "set 5 Paired no", "set 5 Bonded no", "set 6 Bonded no"]
        let links = (1...7).map { "up \($0)" }
        for command in ["adapter hci0"] + peripherals + services + bonds + links + ["live"] { try bluez.tell(command) }
        try daemon.stepTime(beside: bus, bluez)
        try makeProfiles()
        try makeHandlers()
        try daemon.start()
    }

    private func makeProfiles() throws {
        let matches = [
            "plant": "{ services: [\"\(Self.wanted)\"] }", "lamp": "{ services: [\"fff0\"], name_prefix: \"Lamp\" }",
            "pulse": "{ services: [\"180d\"], name_prefix: \"Strap\" }", "meter": "{ services: [\"fff1\"] }",
            "bonder": "{ services: [\"fff5\"] }", "keeper": "{ services: [\"fff6\"] }",
            "early": "{ services: [\"181a\"] }", "weather": "{ services: [\"181a\"], name_prefix: \"Str\" }",
        ]
        for (name, match) in matches {
            try daemon.write(
                """
                { name: "\(name)", title: "T", mode: "bluetooth-central", match: \(match),
                  notify: ["\(name == "pulse" ? "2a99" : "2a37")"] }
                """, to: "config/Devices/\(name)/profile.json5")
        }
    }

    private func makeHandlers() throws {
        let quiet = "[\"/bin/cat\"]"
        for id in ["plant", "pulse", "lamp", "meter", "early"] { try drop(id, exec: quiet, profile: id) }
        try drop("wary", exec: quiet, profile: "bonder", "require: [\"bonded\"],")
        try drop("shy", exec: quiet, profile: "keeper", "require: [\"bonded\"],")
        try drop("typo", exec: quiet, profile: "bonder", device: "Strap 55")
        try drop("other", exec: quiet, profile: "plant", device: "Strap 5")
        try daemon.write(
            "while read line; do echo '{\"ack\":1}'; done\n", to: "stdout.sh")
        try drop("stdout", exec: "[\"/bin/sh\", \"\(daemon.folder)/stdout.sh\"]", profile: "bonder")
        try drop(
            "gone", exec: "[\"/opt/none/hr.sh\"]", profile: "bonder",
            "timers: { failure_base: \"1ms\", failure_cap: \"1ms\" },")
    }

    private func drop(_ id: String, exec: String, profile: String, device: String? = nil, _ keys: String = "") throws {
        let device = device.map { ", device: \"\($0)\"" } ?? ""
        try daemon.drop(
            id,
            """
            { exec: \(exec), user: "\(me)", modes: ["bluetooth-central"], \(keys)
              watch: [{ profile: "\(profile)"\(device) }] }
            """)
    }

    private func why(_ id: String) throws -> String { try daemon.json("why", id)["why"]?.string ?? "" }

    @Test("each of eleven mistakes has a sentence of its own in why, and why without a handler prints them all")
    func sentences() throws {
        for mistake in Self.mistakes {
            let isSaid = try daemon.wait { try why(mistake.id).contains(mistake.sentence) }
            let sentence = try why(mistake.id)
            #expect(isSaid, "\(mistake): \(sentence)")
        }
        let all = try daemon.tool("why").output
        for mistake in Self.mistakes { #expect(all.contains(mistake.sentence), "\(mistake): \(all)") }
        try checkDevices()
        try checkWarnings()
    }

    /// Checks the list of devices for the first of them.
    private func checkDevices() throws {
        let miss =
            "no profile fits it: the profile plant asks for the service \(Self.wanted), and it offers \(Self.offered)"
        let unwatched = try daemon.json("status")["unwatched"]?.array ?? []
        #expect(unwatched.first { $0["alias"]?.string == "Strap 1" }?["why"]?.string == miss, "\(unwatched)")
        let list = try Child(
            ["env", "DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", Built.tool, "--runtime", daemon.runtime, "devices"]
        ).finish().output
        #expect(list.contains("\n  Strap 1  \(miss)\n"), "\(list)")
        #expect(try daemon.tool("status").output.contains("Strap 1  \(miss)\n"))
    }

    /// A warning stays in status, metric, doctor and the start's log until its cause is gone.
    private func checkWarnings() throws {
        let sentence =
            "handler \"gone\" cannot start: there is no /opt/none/hr.sh (exec in line 1 of \(daemon.manifests)/gone.json5); "
            + "put it there, or correct exec"
        let device = "handler \"typo\" watches a device \"Strap 55\": no device is called that"
        for part in [sentence, device] {
            #expect(daemon.log.contains(part), "\(daemon.log)")
            #expect(try daemon.tool("status").output.contains("warning: \(part)"), "\(part)")
            #expect(try daemon.tool("reload").talk.contains(part))
        }
        let warnings = try daemon.json("status")["bridge"]?["warnings"]?.array ?? []
        #expect(warnings.count { $0["code"]?.string == "handler-lacks" } == 2, "\(warnings)")
        let page = try Child(["curl", "-s", "--unix-socket", "\(daemon.runtime)/control.sock", "http://w/metrics"])
            .finish()
        #expect(page.output.contains("\nwakebridge_warnings \(warnings.count)\n"), "\(warnings)")
        let findings = try daemon.json("doctor")["findings"]?.array ?? []
        #expect(findings.contains { $0["code"]?.string == "handler-lacks" }, "\(findings)")

        try drop("gone", exec: "[\"/bin/cat\"]", profile: "bonder")
        try drop("typo", exec: "[\"/bin/cat\"]", profile: "bonder", device: "Strap 5")
        #expect(try daemon.tool("reload").exit == 0)
        let left = try daemon.json("status")["bridge"]?["warnings"]?.array ?? []
        #expect(!left.contains { $0["code"]?.string == "handler-lacks" }, "\(left)")
    }
}
