// Conditions of the bridge that need a person: which of several are shown, and what each of them says.
import Testing
import WakeControl
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeDaemon
@testable import WakeMQTT

@Suite("Warnings of the bridge") struct WarningTests {
    private let broker = BrokerAddress("mqtt://hub.example:1883")!
    private let encrypted = BrokerAddress("mqtts://hub.example:8883")!

    @Test(
        "each refusal of a broker is a warning with its own reason and remedy",
        arguments: [
            (1, "it does not speak MQTT 3.1.1", "use another broker"),
            (2, "it refuses the client's name", "set mqtt.bridge"),
            (
                5, "it refuses this user or the password",
                "correct user and password_file under mqtt, or allow the user at the broker; then restart wakebridged"
            ),
            (-1, "it does not answer", "see that it runs there, and correct broker under mqtt if not"),
        ] as [(Int32, String, String)])
    func refusals(code: Int32, reason: String, advice: String) {
        let fault = MQTTFault(connectingTo: broker, code: code, reason: "")
        let warning = BrokerWarnings.warning(of: .publishing, at: broker, fault)
        #expect(
            warning.sentence == "nothing is published to the broker at mqtt://hub.example:1883: \(reason); \(advice)")
        #expect(warning.code == .mqttFault)
        #expect(fault.sentence == "could not connect to the broker at mqtt://hub.example:1883: \(reason); \(advice)")
    }

    @Test("with TLS the remedy is about the certificate, and without the library it is the package")
    func certificate() {
        let fault = MQTTFault(connectingTo: encrypted, code: -1, reason: "certificate verify failed")
        let ofBridge = BrokerWarnings.warning(of: .bridge("shed"), at: encrypted, fault)
        #expect(
            ofBridge.sentence == "nothing comes of bridge \"shed\" from the broker at mqtts://hub.example:8883: "
                + "certificate verify failed; see that it runs there, "
                + "and that its certificate is of an authority that is trusted here")
        let absent = BrokerWarnings.warning(of: .inboxes, at: broker, .absent("no such file"))
        #expect(
            absent.sentence == "no message comes to inboxes from the broker at mqtt://hub.example:1883: "
                + "could not load Eclipse Paho for MQTT: no such file; install the package libpaho-mqtt1.3")
    }

    @Test("a fault stays until its connection works, and one that inboxes share with publications is shown once")
    func stays() {
        let warnings = BrokerWarnings()
        let fault = MQTTFault.lost(broker, "")
        for purpose in [BrokerWarnings.Purpose.inboxes, .publishing, .bridge("shed")] {
            warnings.fail(purpose, at: broker, fault)
        }
        #expect(warnings.warnings.count == 2)
        warnings.succeed(.bridge("shed"))
        #expect(warnings.warnings.map(\.what) == ["nothing is published to the broker at mqtt://hub.example:1883"])
        warnings.succeed(.publishing)
        #expect(warnings.warnings.map(\.why) == ["it closed the connection"])
        warnings.succeed(.inboxes)
        #expect(warnings.warnings == [])
    }

    @Test("a password that cannot be read is a warning with what to do, also where the error has no advice")
    func password() {
        let warnings = BrokerWarnings()
        let closed = SystemError("read", "/etc/password", .denied, advice: "run chmod 600 /etc/password")
        warnings.fail(.publishing, at: broker, closed, remedy: "run 'wakebridge reload'")
        #expect(warnings.warnings.first?.why == "could not read /etc/password: Permission denied (EACCES)")
        #expect(warnings.warnings.first?.advice == "run chmod 600 /etc/password; then run 'wakebridge reload'")
        warnings.fail(.publishing, at: broker, SystemError("read", "/etc/password", .noEntry), remedy: "x")
        #expect(warnings.warnings.first?.advice == "mend that; then x")
    }

    @Test("a refused file is shown by its first fault, with how many more there are and what is in force")
    func refusedFiles() throws {
        let faults = [
            ConfigurationError(file: "/c/hr.json5", sentence: "one"),
            ConfigurationError(file: "/c/hr.json5", sentence: "two"),
        ]
        let former = try #require(RefusalWarnings.ofManifest("hr", faults, isFormerInForce: true))
        #expect(
            former.sentence == "the manifest of handler \"hr\" is refused for 2 faults: "
                + "the manifest from before stays in force; correct /c/hr.json5: one")
        #expect(
            former.refusal
                == RefusedFile(file: "/c/hr.json5", line: nil, fault: "one", more: 1, isFormerInForce: true))
        #expect(former.handler == "hr" && former.code == .manifestRefused)
        let new = RefusalWarnings.ofManifest("hr", faults, isFormerInForce: false)
        #expect(new?.why == "the handler does not run")
        #expect(RefusalWarnings.ofManifest("hr", [], isFormerInForce: false) == nil)
        let unreadable = ConfigurationError(file: "/c/hr.json5", sentence: "could not read /c/hr.json5: EIO")
        let lost = RefusalWarnings.ofManifest("hr", [unreadable], isFormerInForce: true)
        #expect(lost?.advice == "mend this: could not read /c/hr.json5: EIO")
    }

    @Test(
        "profiles with faults are a warning for each file, and settings one that says whether the daemon starts again")
    func otherFiles() {
        let faults = ["b", "a", "b"].map { ConfigurationError(file: "/c/Devices/\($0)/profile.json5", sentence: "x") }
        let warnings = RefusalWarnings.ofProfiles(faults)
        #expect(
            warnings.map(\.what) == [
                "a/profile.json5 is refused for 1 fault", "b/profile.json5 is refused for 2 faults",
            ])
        #expect(warnings.allSatisfy { $0.code == .profileRefused && $0.handler == nil })
        let settings = [ConfigurationError(file: "/c/wakebridge.json5", sentence: "x")]
        #expect(RefusalWarnings.ofSettings(settings, isRunning: false)?.why == "wakebridged does not start")
        let running = RefusalWarnings.ofSettings(settings, isRunning: true)
        #expect(running?.why == "the settings from before stay in force, and wakebridged does not start again")
        #expect(running?.refusal?.isFormerInForce == true)
    }
}
