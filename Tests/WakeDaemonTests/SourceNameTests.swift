// A daemon that was built with a source whose events it could not keep.
import Testing
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

@testable import WakeDaemon

@Suite("A daemon with a source of its own") struct SourceNameTests {
    private final class LongNamed: RegisteredSource {
        static let kind = SourceKind(
            "long-named", uriPrefix: "/long/", streams: [String(repeating: "a", count: Channel.longestName + 1)])
        static func make(for host: any SourceHost, _ resources: SourceResources) -> LongNamed { LongNamed() }
        func start() {}
        func stop() {}
    }

    @Test("it does nothing if a stream of the source has a name that the journal cannot keep")
    func refuses() {
        #expect(DaemonCommand.run(["wakebridged", "--version"]) == 0)
        #expect(DaemonCommand.run(["wakebridged", "--version"], sources: [LongNamed.self]) == 1)
        #expect(!SourceKind.allCases.contains(LongNamed.kind))
    }
}
