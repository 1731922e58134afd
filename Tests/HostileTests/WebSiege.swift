// An attack from the network on a daemon that listens there, beside a handler that is woken all the time.
import TestBench
import Testing
import WakeModel

extension Hostile {
    /// Plays the attack while the victim is woken; what came, by status.
    static func standInNetwork(
        _ attack: String, isSecure: Bool = false, tokenWords: [String] = ["--role", "read"]
    ) async throws -> (counts: [String: Int], figures: Figures) {
        let siege = try Siege("network-\(attack)")
        let port = try freePort()
        let identity = isSecure ? try makeIdentity(siege.ground) : ""
        siege.ground.write(
            "{ web: { listen: \"127.0.0.1:\(port)\"\(identity) } }", to: "config/wakebridge.json5")
        siege.ground.write(
            #"{ exec: ["/bin/sh", "-c", "cat > /dev/null"], user: "nobody", inbox: { accept: "60/d" } }"#,
            to: "config/handlers.d/box.json5")
        var outcome = ""
        let figures = try await siege.stand {
            let words = ["--socket", siege.ground.socket, "web", "--token", "wall", "--json"] + tokenWords
            let made = try Child([Built.tool] + words)
            _ = try await wait(10) { made.isOver }
            let token = try #require(member("token", of: made.output[...]), "\(made.talk)")
            let script = "\(packageFolder)/Tests/HostileTests/network.py"
            let attacker = try Child(["python3", script, attack, "\(port)", token, "victim"])
            try #require(try await wait(120) { attacker.isOver })
            #expect(attacker.exit == 0, "\(attacker.talk)")
            outcome = attacker.output
        }
        try await siege.end()
        let counts = try JSONValue(parsing: Array(outcome.utf8))
        print("hostile: network-\(attack): \(outcome)", terminator: "")
        guard case .object(let members) = counts else { return ([:], figures) }
        return (Dictionary(members.map { ($0.name, Int($0.value.integer ?? 0)) }) { $1 }, figures)
    }

    /// Makes a key for P-256 and its certificate, and returns them as members of `web`.
    private static func makeIdentity(_ ground: Ground) throws -> String {
        let (key, certificate) = ("\(ground.path)/key.pem", "\(ground.path)/certificate.pem")
        let made = try Child([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=w", "-keyout", key, "-out", certificate,
        ])
        try #require(made.finish().exit == 0, "\(made.talk)")
        return ", certificate: \"\(certificate)\", key: \"\(key)\""
    }
}
