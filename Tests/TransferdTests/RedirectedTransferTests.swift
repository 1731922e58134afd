// Redirects by a server in the world: none leads to this machine or its network, under any name.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// Runs in a network of its own, in which a server of the test has a public address.
@Suite(
    "Transfers that are sent on", .serialized,
    .enabled(if: Machine.makesNamespaces, "needs a network of its own, as root"),
    .timeLimit(.minutes(4)))
struct RedirectedTransferTests {
    /// A server in the world redirects, and a server on this machine records its requests.
    private static let servers = """
        import ctypes, http.server, signal, sys, threading
        # With the daemon, whose child it is.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        folder = sys.argv[1]
        inner = "http://{}:8081/secret"
        targets = {
            "/loopback": inner.format("127.0.0.1"), "/name": inner.format("localhost"), "/mapped": inner.format("[::ffff:127.0.0.1]"),
            "/lookup": inner.format("inner.example"), "/link": inner.format("169.254.169.254"), "/site": inner.format("10.1.2.3"),
            "/on": "http://8.8.8.8:8080/file", "/far": "http://8.8.8.8:8080/loopback",
        }
        class World(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                target = targets.get(self.path)
                self.send_response(307 if target else 200)
                if target: self.send_header("Location", target)
                self.send_header("Content-Length", "0" if target else "4")
                self.end_headers()
                if not target: self.wfile.write(b"open")
            def log_message(self, *words): pass
        class Machine(World):
            def do_GET(self):
                with open(folder + "/asked", "a") as asked: asked.write(self.path + "\\n")
                super().do_GET()
        for place, kind in (("8.8.8.8", 8080), World), (("", 8081), Machine):
            server = http.server.ThreadingHTTPServer(place, kind)
            threading.Thread(target=server.serve_forever).start()
        open(folder + "/serving", "w").write("ready\\n")

        """

    private func room() throws -> TransferRoom {
        let room = try TransferRoom()
        try File.replace("\(room.folder)/world.py", with: Array(Self.servers.utf8))
        try File.replace("\(room.folder)/hosts", with: Array("127.0.0.1 localhost inner.example\n".utf8))
        let script = """
            mount --bind '\(room.folder)/hosts' /etc/hosts && ip link set lo up || exit 1
            for place in 8.8.8.8 169.254.169.254 10.1.2.3; do ip address add $place/32 dev lo || exit 1; done
            mkfifo '\(room.folder)/serving' || exit 1
            python3 '\(room.folder)/world.py' '\(room.folder)' </dev/null >'\(room.folder)/world.log' 2>&1 &
            read -r ready <'\(room.folder)/serving' && exec "$@"
            """
        room.wrapper = ["unshare", "--mount", "--net", "sh", "-c", script, "sh"]
        try room.start()
        return room
    }

    private func download(_ id: String, _ address: String) -> String {
        #"{"transfer":{"session":"photos","id":"\#(id)","url":"\#(address)","to":"\#(id)"}}"#
    }

    @Test(
        "a server in the world sends no transfer on to this machine, its link or its network, and none of them is asked"
    )
    func refused() throws {
        let room = try room()
        // A connection to this machine's own server is open by then, and must not be used again.
        try room.order([download("direct", "http://127.0.0.1:8081/direct")])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        let near = ["loopback", "name", "mapped", "lookup", "link", "site", "far"]
        try room.order((near + ["on"]).map { download($0, "http://8.8.8.8:8080/\($0)") })
        try #require(Patience.wait { room.told("transfer.settled").count == 2 }, "\(room.log)")
        for id in near { #expect(room.why(id) == "redirect" && room.file(id) == nil, "\(id)") }
        #expect(room.file("on") == Array("open".utf8) && room.file("direct") == Array("open".utf8))
        #expect(lines(of: "\(room.folder)/asked") == ["/direct"])
        #expect(room.log.contains("on to inner.example:8081, nearer to this machine than itself"))
    }
}
