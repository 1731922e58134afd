// Files that another user swaps, and files that are none: neither keeps a handler waiting.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Files that the daemon reads", .tags(.fullScale))
    struct FileTimeTests {
        @Test(
            "a linked manifest that becomes a FIFO, a directory and an endless file stops neither daemon nor handlers",
            .timeLimit(.minutes(3)))
        func changingManifest() async throws {
            let siege = try Siege("changing-manifest")
            let file = siege.lay("changing", of: 65534)
            siege.link(file)
            let figures = try await siege.stand(patience: 10) {
                try siege.send(["swap", file, "3"])
                let end = monotonicNow() + 3
                while monotonicNow() < end {
                    siege.link(file)
                    guard try await siege.tool("reload") != nil else { return }
                }
            }
            figures.check()
            #expect(siege.users == [])
            try await siege.end()
        }

        @Test(
            "a FIFO in the place of a profile or of the settings is named by reload, and stops nothing",
            .timeLimit(.minutes(3)), arguments: ["Devices/strange/profile.json5", "wakebridge.json5"])
        func fifos(name: String) async throws {
            let siege = try Siege("fifo at \(name)")
            let figures = try await siege.stand(patience: 10) {
                mkdir(siege.ground.file("config/Devices"), 0o755)
                mkdir(siege.ground.file("config/Devices/strange"), 0o755)
                mkfifo(siege.ground.file("config/\(name)"), 0o644)
                let reload = try await siege.tool("reload", within: 60)
                #expect(reload?.talk.contains(name) == true, "\(reload?.talk ?? "no answer")")
            }
            figures.check()
            try await siege.end()
        }
    }
}
