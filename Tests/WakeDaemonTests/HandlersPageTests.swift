// A handler's environment in docs/reference/events-and-replies.md, compared with the real one.
import TestBench
import Testing
import WakeCore
import WakeModel
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

@Suite("A handler's environment")
struct HandlersPageTests {
    private func environment(_ manifest: String) throws -> [String: String] {
        let folder = try Directory.makeTemporary(prefix: "wakebridge-environment")
        defer { Directory.removeTree(folder) }
        let launcher = Launcher(
            suspension: .stopSignals, accounts: AccountBook(OwnUsers(.init(handlers: folder))),
            bridgeStateDirectory: folder, runtimeDirectory: folder)
        let manifest = try HandlerManifest(id: "hr", file: "hr.json5", text: Array(manifest.utf8), isRoot: false)
        let variables = launcher.environment(of: manifest, .gap, "/state/handlers/hr", nil)
        return Dictionary(variables.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
    }

    @Test("docs/reference/events-and-replies.md explains every variable that a handler is started with, and no other")
    func page() throws {
        let page = try Document("docs/reference/events-and-replies.md")
        let words = page.words(below: "## The environment")
        let names = try environment("{exec: [\"/bin/cat\"], modes: [], watch: []}").keys
        // Those that only some handlers get are added as each is launched.
        let ofSome = ["NOTIFY_SOCKET", "WAKEBRIDGE_DEVICE", "WAKEBRIDGE_SOCKETS", "WAKEBRIDGE_SOCKETS_FD"]
        #expect(Set(words) == Set(names).union(ofSome))
    }

    @Test("a manifest's own variable replaces the daemon's, once")
    func override() throws {
        let variables = try environment("{exec: [\"/bin/cat\"], modes: [], watch: [], env: {PATH: \"/opt\", A: \"1\"}}")
        #expect(variables["PATH"] == "/opt" && variables["A"] == "1" && variables["LANG"] == "C.UTF-8")
        #expect(variables["WAKEBRIDGE_REASON"] == "gap" && variables["WAKEBRIDGE_STATE_DIR"] == "/state/handlers/hr")
    }
}
