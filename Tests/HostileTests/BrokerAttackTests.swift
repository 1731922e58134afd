// A broker attacks a daemon beside a handler that is woken all the time: the daemon's memory does not grow.
import TestBench
import Testing

extension Hostile {
    @Suite("A hostile broker", .timeLimit(.minutes(5)), .enabled(unless: HostileBroker.hindrance))
    struct BrokerTests {
        private static let room = 16 << 10

        @Test(
            "250 MB at one topic, over TLS too, take less than 16 MB; the message behind comes, and the doctor names the topic",
            arguments: [("read", false), ("about", false), ("about", true)])
        func longMessage(what: String, isEncrypted: Bool) async throws {
            let siege = try Siege("broker-message-\(what)\(isEncrypted ? "-tls" : "")")
            let certificate = isEncrypted ? try siege.makeCertificate() : nil
            let topic = "wakebridge/siege/devices/x/\(what)"
            let broker = try await HostileBroker(
                "message", topic: topic, bytes: 250_000_000, certificate: certificate)
            siege.publish(to: broker, trusting: certificate)
            try await siege.stand(patience: 120) {
                let idle = siege.peak
                broker.attack()
                let isThrough = try await wait(120) { broker.book.contains("acknowledged 8") }
                #expect(
                    isThrough && idle > 0 && siege.peak - idle < Self.room,
                    "\(idle) to \(siege.peak) kB: \(broker.book)")
                let doctor = try await siege.tool("doctor", "--json", within: 60)?.talk ?? ""
                #expect(doctor.contains("long-messages") && doctor.contains(topic), "\(doctor)")
            }.checkAccounts()
            #expect(broker.book.count { $0 == "connect 4" } == 1, "\(broker.book)")
            broker.end()
            try await siege.end()
        }

        @Test(
            "a packet that no broker has to send ends the connection with a word, and takes no memory",
            arguments: [
                ("answer", 1_000_000, "a packet that is too long for its kind"),
                ("unasked", 1_000_000, "a message with a quality that was not asked for"),
            ])
        func strangePacket(attack: String, bytes: Int, reason: String) async throws {
            let siege = try Siege("broker-\(attack)")
            let broker = try await HostileBroker(attack, topic: "wakebridge/siege/devices/x/about", bytes: bytes)
            siege.publish(to: broker)
            try await siege.stand(patience: 120) {
                let idle = siege.peak
                broker.attack()
                let isBack = try await wait(120) { broker.book.count { $0 == "connect 4" } > 1 }
                #expect(
                    isBack && idle > 0 && siege.peak - idle < Self.room, "\(idle) to \(siege.peak) kB: \(broker.book)")
                #expect(text(of: siege.ground.daemonLog).contains(reason))
            }.checkAccounts()
            try await siege.end()
        }
    }
}
