// Files that the daemon reads as root and another user may change, and files that are none.
import Glibc
import TestBench
import Testing

extension Hostile {
    @Suite("Files that the daemon reads", .tags(.measures))
    struct FileTests {
        /// A folder of an ordinary user, with a manifest in it that wants to be root and notes who it is.
        private func lay(_ name: String, of user: uid_t, in siege: Siege) -> String {
            let folder = siege.ground.file("theirs")
            mkdir(folder, 0o755)
            chown(folder, 65534, 65534)
            let script = siege.ground.write("#!/bin/sh\nid -u >>\(siege.yard)/users\nexec cat\n", to: "who.sh")
            chmod(script, 0o755)
            put(Siege.manifest([script], "root", "ack: \"delivery\""), at: "\(folder)/\(name).json5")
            chown("\(folder)/\(name).json5", user, user)
            return "\(folder)/\(name).json5"
        }

        private func link(_ file: String, in siege: Siege) {
            let name = file.split(separator: "/").last.map(String.init) ?? ""
            let place = siege.ground.file("config/handlers.d/\(name)")
            unlink(place)
            symlink(file, place)
        }

        private func users(_ siege: Siege) -> [String] { lines(of: "\(siege.yard)/users") }

        @Test(
            "a manifest that an ordinary user may change runs nothing as root, though root linked it in",
            .timeLimit(.minutes(3)))
        func foreignManifests() async throws {
            let siege = try Siege("foreign-manifests")
            for (name, owner) in [("owned", uid_t(65534)), ("replaceable", 0)] {
                link(lay(name, of: owner, in: siege), in: siege)
            }
            let figures = try await siege.stand()
            figures.check()
            #expect(users(siege) == [])
            let reload = try await siege.tool("reload", within: 60)
            #expect(reload?.talk.contains("owned.json5") == true, "\(reload?.talk ?? "no answer")")
            #expect(reload?.talk.contains("replaceable.json5") == true)
            try await siege.end()
        }

        @Test(
            "a linked manifest that becomes a FIFO, a directory and an endless file stops neither daemon nor handlers",
            .timeLimit(.minutes(3)))
        func changingManifest() async throws {
            let siege = try Siege("changing-manifest")
            let file = lay("changing", of: 65534, in: siege)
            link(file, in: siege)
            let figures = try await siege.stand(patience: 10) {
                try siege.send(["swap", file, "3"])
                let end = monotonicNow() + 3
                while monotonicNow() < end {
                    link(file, in: siege)
                    guard try await siege.tool("reload") != nil else { return }
                }
            }
            figures.check()
            #expect(users(siege) == [])
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
