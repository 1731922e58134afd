// A real connection whose way changes, between two networks of the test's own: it stays where the peer answers, else another follows.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "A connection whose way changes", .serialized, .tags(.fullScale), .timeLimit(.minutes(4)),
    .enabled(if: Machine.makesNamespaces, "SKIPPED: needs root and namespaces"))
struct SocketRouteTests {
    /// Says from where each connection came, and holds all of them.
    private static let peer = """
        import socket
        door, held = socket.create_server(("0.0.0.0", 5060)), []
        while True:
            held.append(door.accept())
            print(held[-1][1][0], flush=True)

        """

    /// Runs `ip` in the network of a process.
    private func ip(_ words: String, in process: pid_t) throws {
        let enter = ["nsenter", "-t", "\(process)", "-n", "ip"]
        let (exit, _, talk) = try Child(enter + words.split(separator: " ").map(String.init)).finish()
        try #require(exit == 0, "ip \(words): \(talk)")
    }

    /// Whether the kernel reports such a state of the connection in the process's network.
    private func kernelSees(_ state: some RegexComponent, in process: pid_t) -> Bool {
        let enter = ["nsenter", "-t", "\(process)", "-n", "ss", "-tnioH", "dport", "5060"]
        return (try? Child(enter).finish().output.firstMatch(of: state)) != nil
    }

    /// A daemon whose handler is connected to `peer`, from 192.0.2.1 to 192.0.2.2.
    private func connected(to peer: Child) throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        daemon.wrapper = ["unshare", "--net"]
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.drop(
            "voip",
            """
            { exec: ["/usr/bin/python3", "-u", "\(daemon.folder)/diary.py"], user: "\(me)", timers: { linger: "20ms" },
              sockets: [{ name: "sip", connect: "tcp:192.0.2.2:5060" }] }
            """)
        try daemon.start("--no-bluetooth")
        for words in [
            "link set lo up", "link add near type veth peer name far netns \(peer.process)",
            "addr add 192.0.2.1/24 dev near", "link set near up",
        ] { try ip(words, in: daemon.process) }
        for words in ["addr add 192.0.2.2/24 dev far", "link set far up"] { try ip(words, in: peer.process) }
        try #require(daemon.wait(60) { peer.output == "192.0.2.1\n" }, "\(peer.talk)\n\(daemon.log)")
        try #require(daemon.wait(60) { count("opened", daemon) == 1 }, "\(daemon.log)")
        return daemon
    }

    private func count(_ word: String, _ daemon: RunningDaemon) -> Int {
        daemon.diary("voip").count { $0.hasPrefix(word) }
    }

    @Test(
        "a connection of another way is kept where its peer answers within seconds, and is given up for another one where it does not"
    )
    func ways() throws {
        let peer = try Child(["unshare", "--net", "/usr/bin/python3", "-u", "-c", Self.peer])
        defer { kill(peer.process, SIGKILL) }
        let daemon = try connected(to: peer)
        // Before there was a way, it may have been told that its peer is unreachable.
        let told = count("closed", daemon)
        // It has been silent for longer than any peer is waited for.
        #expect(Patience.wait { kernelSees(#/lastrcv:(1[3-9]|[2-9]\d)\d\d\d/#, in: daemon.process) })
        try ip("route add blackhole 192.0.2.1/32", in: peer.process)
        try ip("addr add 192.0.2.9/32 dev near", in: daemon.process)
        let changed = monotonicNow()
        try ip("route replace 192.0.2.2/32 dev near src 192.0.2.9", in: daemon.process)
        // The kernel probes the peer, whose answer does not come.
        #expect(Patience.wait { kernelSees(#/timer:\(keepalive,[^,]*,[1-9]/#, in: daemon.process) })
        try ip("route del blackhole 192.0.2.1/32", in: peer.process)
        let isInTime = monotonicNow() - changed < 5.5
        // The kernel probes it no more.
        #expect(
            Patience.wait {
                kernelSees(#/timer:\(keepalive,\d+min/#, in: daemon.process) || count("closed", daemon) > told
            })
        // Where this test itself came too late, the connection was given up with reason.
        guard isInTime || count("closed", daemon) == told else {
            return print("SKIPPED: this machine was too slow to bring the way back within 5.5 s")
        }
        #expect(count("closed", daemon) == told && peer.output == "192.0.2.1\n", "\(daemon.diary("voip"))")

        try ip("addr del 192.0.2.1/24 dev near", in: daemon.process)
        try #require(daemon.wait(60) { count("closed", daemon) == told + 1 }, "\(daemon.log)")
        #expect(daemon.diary("voip").last { $0.hasPrefix("closed") }?.contains("\"route\"") == true)
        try #require(daemon.wait(60) { peer.output == "192.0.2.1\n192.0.2.9\n" }, "\(peer.output)\n\(daemon.log)")
        #expect(daemon.wait(60) { count("opened", daemon) > 1 }, "\(daemon.log)")
    }
}
