// Files that the daemon reads as root and another user may change.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Files that another user may change")
    struct FileTests {
        @Test(
            "a manifest that an ordinary user may change runs nothing as root, though root linked it in",
            .timeLimit(.minutes(3)))
        func foreignManifests() async throws {
            let siege = try Siege("foreign-manifests")
            for (name, owner) in [("owned", uid_t(65534)), ("replaceable", 0)] {
                siege.link(siege.lay(name, of: owner))
            }
            try await siege.stand().checkAccounts()
            #expect(siege.users == [])
            let reload = try await siege.tool("reload", within: 60)
            #expect(reload?.talk.contains("owned.json5") == true, "\(reload?.talk ?? "no answer")")
            #expect(reload?.talk.contains("replaceable.json5") == true)
            try await siege.end()
        }
    }
}
