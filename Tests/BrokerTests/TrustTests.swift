// Which broker the daemon trusts, and how it shows who it is.
import Glibc
import TestBench
import Testing

@Suite("Trust in a broker", .serialized, .tags(.outside), .enabled(unless: MQTTBench.hindrance))
struct TrustTests {
    private let ground = Ground("mqtt")

    /// A certificate authority, and a certificate of 127.0.0.1 that it has signed.
    private func makeCertificates() throws {
        let folder = ground.path
        let script = """
            cd \(folder)
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bench -keyout ca.key -out ca.pem
            openssl req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout broker.key -out broker.csr
            printf 'subjectAltName=IP:127.0.0.1' > names
            openssl x509 -req -in broker.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out broker.pem
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem
            """
        let (exit, _, talk) = try Child(["sh", "-ec", script]).finish()
        try #require(exit == 0, "\(talk)")
    }

    private func encryptedBroker() async throws -> Broker {
        try makeCertificates()
        let broker = try Broker(
            ground,
            lines: [
                "allow_anonymous true", "certfile \(ground.file("broker.pem"))", "keyfile \(ground.file("broker.key"))",
            ])
        try await broker.start()
        return broker
    }

    private func bridge(_ broker: Broker, _ more: String) -> PublishedBridge {
        PublishedBridge(
            ground, trace: PublishedBridge.straps(ground),
            settings: "broker: \"mqtts://127.0.0.1:\(broker.port)\", \(more)")
    }

    @Test("with its own authority the daemon publishes over TLS")
    func publishesEncrypted() async throws {
        let broker = try await encryptedBroker()
        let outside = try await OutsideClient(
            ground, broker.port, topics: ["#"], options: ["authority": ground.file("ca.pem"), "host": "127.0.0.1"])
        let bridge = bridge(broker, "certificate_authority: \"\(ground.file("ca.pem"))\"")
        try bridge.daemon.start()
        _ = try await outside.await("wakebridge/pi/devices/strap-1/state")
    }

    @Test("a broker whose certificate another authority has signed gets nothing", arguments: ["other.pem", nil])
    func refusesOtherAuthority(authority: String?) async throws {
        let broker = try await encryptedBroker()
        let more = authority.map { "certificate_authority: \"\(ground.file($0))\"" } ?? "base: \"x\""
        let bridge = bridge(broker, more)
        try bridge.daemon.start()
        let isTold = try await wait(15) { bridge.log.contains("could not connect to the broker") }
        #expect(isTold && !bridge.log.contains("connected to the broker"), "\(bridge.log)")
        let status = try await bridge.daemon.tool("status").output
        #expect(status.contains("warning: nothing is published to the broker at mqtts://127.0.0.1:"), "\(status)")
        #expect(status.contains("and that its certificate is of an authority that is trusted here\n"), "\(status)")
    }

    @Test("a wrong password is told once, however often it is tried")
    func tellsWrongPasswordOnce() async throws {
        let passwords = ground.file("passwords")
        let (exit, _, talk) = try Child(["mosquitto_passwd", "-b", "-c", passwords, "pi", "right"]).finish()
        try #require(exit == 0, "\(talk)")
        let broker = try Broker(ground, lines: ["allow_anonymous false", "password_file \(passwords)"])
        try await broker.start()
        put("wrong\n", at: ground.file("password"), mode: 0o600)
        let bridge = PublishedBridge(
            ground, trace: PublishedBridge.straps(ground),
            settings: PublishedBridge.settings(
                broker, "user: \"pi\", password_file: \"\(ground.file("password"))\""))
        try bridge.daemon.start()
        let tries = try await wait(20) {
            broker.said.components(of: "Connection Refused: not authorised") >= 2
                || broker.said.components(of: "not authorised") >= 3
        }
        #expect(tries, "\(broker.said.suffix(600))")
        #expect(bridge.log.components(of: "could not connect to the broker") == 1, "\(bridge.log)")
        #expect(!bridge.log.contains("wrong\n"))
    }

    @Test(
        "with the access list of the fleet's example each bridge publishes below its own name only, and a follower nowhere"
    )
    func restrictsFleet() async throws {
        let example = "\(packageFolder)/Examples/fleet/mosquitto.acl"
        let shown = try Document("docs/tutorials/a-fleet-of-bridges.md").block("conf", with: "pattern")
        #expect(shown?.lines.map(String.init) == lines(of: example).filter { !$0.hasPrefix("#") })
        let list = ground.write(text(of: example), to: "fleet.acl")
        let broker = try Broker(ground, lines: ["allow_anonymous true", "acl_file \(list)"])
        try await broker.start()
        let topics = [
            "pi-kitchen wakebridge/pi-kitchen/status", "pi-kitchen wakebridge/pi-hall/status",
            "follower wakebridge/pi-kitchen/status", "stranger wakebridge/pi-hall/status",
            "operator wakebridge/pi-hall/handlers/hr/wake", "pi-hall homeassistant/device/pi-hall/config",
        ]
        for line in topics {
            let words = line.split(separator: " ").map(String.init)
            let sent = [
                "mosquitto_pub", "-p", "\(broker.port)", "-q", "1", "-r", "-u", words[0], "-t", words[1], "-m",
                words[0],
            ]
            try #require(try Child(sent).finish(within: 10).exit == 0)
        }
        let asked = ["-p", "\(broker.port)", "-u", "follower", "-t", "wakebridge/#", "-v", "-C", "2", "-W", "10"]
        let (exit, output, _) = try Child(["mosquitto_sub"] + asked).finish(within: 20)
        #expect(exit == 0)
        #expect(
            Set(output.split(separator: "\n")) == [
                "wakebridge/pi-kitchen/status pi-kitchen", "wakebridge/pi-hall/handlers/hr/wake operator",
            ])
        #expect(broker.said.components(of: "Denied PUBLISH") == 3, "\(broker.said)")
    }

    @Test(
        "a bridge publishes to the broker of the fleet's page, made by its commands, and without a password no client does"
    )
    func followsFleetPage() async throws {
        let page = try Document("docs/tutorials/a-fleet-of-bridges.md")
        let commands = try #require(page.block("sh", with: "openssl x509")).lines.filter {
            $0.hasPrefix("openssl") || $0.hasPrefix("echo")
        }
        #expect(commands.count == 4)
        let script = commands.joined(separator: "\n").replacing("DNS:hub.example", with: "IP:127.0.0.1")
            .replacing("hub.example", with: "127.0.0.1")
        let (exit, _, talk) = try Child(["sh", "-ec", "cd \(ground.path)\n\(script)"]).finish()
        try #require(exit == 0, "\(talk)")
        let passwords = ground.file("wakebridge.passwd")
        for words in [["-c", passwords, "pi", "secret"], [passwords, "follower", "secret"]] {
            try #require(try Child(["mosquitto_passwd", "-b"] + words).finish().exit == 0)
        }
        _ = ground.write(text(of: "\(packageFolder)/Examples/fleet/mosquitto.acl"), to: "wakebridge.acl")
        let shown = lines(of: "\(packageFolder)/Examples/fleet/mosquitto.conf").filter {
            !$0.hasPrefix("#") && !$0.isEmpty
        }
        #expect(try #require(page.block("conf", with: "listener")).lines.map(String.init) == shown)
        let settings = shown.filter { !$0.hasPrefix("listener") }.map {
            $0.replacing("/etc/mosquitto/certs/", with: "\(ground.path)/").replacing(
                "/etc/mosquitto/", with: "\(ground.path)/")
        }
        let broker = try Broker(ground, lines: settings)
        try await broker.start()
        let authority = ground.file("ca.pem")
        put("secret\n", at: ground.file("password"), mode: 0o600)
        let bridge = bridge(
            broker,
            "certificate_authority: \"\(authority)\", user: \"pi\", password_file: \"\(ground.file("password"))\"")
        try bridge.daemon.start()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)", "--cafile", authority, "-t"]
        let login = ["-u", "follower", "-P", "secret", "-C", "1", "-W", "30"]
        let seen = try Child(["mosquitto_sub"] + login + place + ["wakebridge/pi/#"]).finish(within: 40)
        #expect(seen.exit == 0, "\(broker.said.suffix(600))")
        let refused = try Child(["mosquitto_pub", "-m", "forged"] + place + ["wakebridge/pi/status"]).finish(within: 20)
        #expect(refused.exit != 0 && broker.said.contains("not authorised"), "\(refused)")
    }

    @Test("a password that others can read is not used")
    func refusesOpenPassword() async throws {
        let broker = try Broker(ground)
        try await broker.start()
        put("secret\n", at: ground.file("password"), mode: 0o644)
        let bridge = PublishedBridge(
            ground, trace: PublishedBridge.straps(ground),
            settings: PublishedBridge.settings(broker, "user: \"pi\", password_file: \"\(ground.file("password"))\""))
        try bridge.daemon.start()
        let isTold = try await wait(10) { bridge.log.contains("run chmod 600 \(ground.file("password"))") }
        #expect(isTold, "\(bridge.log)")
        #expect(!bridge.log.contains("secret"))
    }
}

extension String {
    /// How often a text stands in it.
    fileprivate func components(of words: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: words) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
