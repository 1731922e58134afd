// What no source file may hold, and how each must begin and end.
import Testing

/// Files that may name unsafe pointers, each with its reason. Everyone else gets values.
private let edges: [String: String] = [
    "Sources/wakebridge-transferd/CurlMulti.swift": "libcurl's sockets and time",
    "Sources/wakebridge-transferd/HTTPExchange.swift": "one exchange of libcurl, and what it calls",
    "Sources/WakeSystem/Account.swift": "getpwnam_r fills a buffer of ours",
    "Sources/WakeSystem/ChildProcess.swift": "hands C the strings of a spawn",
    "Sources/WakeSystem/BackgroundJob.swift": "hands a thread its work",
    "Sources/WakeSystem/File.swift": "readdir's name is a C array",
    "Sources/WakeSystem/DatagramSocket.swift": "recvmsg",
    "Sources/WakeSystem/FileDescriptor.swift": "read and write",
    "Sources/WakeSystem/Leaf.swift": "reads cgroup.events without allocating",
    "Sources/WakeSystem/Log.swift": "writes a line with one call",
    "Sources/WakeSystem/MappedFile.swift": "a file in memory",
    "Sources/WakeSystem/SpawnRequest.swift": "argv and envp",
    "Sources/WakeSystem/TemporaryDirectory.swift": "mkdtemp changes its template; readlink fills a buffer",
    "Sources/WakeSystem/Udev/Udev.swift": "libudev's context and enumeration",
    "Sources/WakeSystem/Udev/UdevDevice.swift": "libudev's devices and the strings that they own",
    "Sources/WakeSystem/Udev/UdevMonitor.swift": "libudev's monitor",
    "Sources/WakeSystem/UnixSocket.swift": "sockaddr_un",
    "Sources/WakeJournal/Database.swift": "sqlite3's handle",
    "Sources/WakeJournal/Statement.swift": "sqlite3's statements, text and blobs",
    "Sources/WakeLoop/DescriptorStore.swift": "the names of sd_listen_fds_with_names",
    "Sources/WakeLoop/EventLoop.swift": "sd-event's handle",
    "Sources/WakeLoop/Source.swift": "sd-event's sources and their userdata",
    "Sources/WakeLoop/Timer.swift": "sd-event's userdata",
    "Sources/WakeLoop/Bus/BusConnection.swift": "sd-bus's handle, messages and userdata",
    "Sources/WakeLoop/Bus/BusError.swift": "an error that a message carries",
    "Sources/WakeLoop/Bus/BusMessage.swift": "reads and writes sd-bus's messages",
    "Sources/WakeLoop/Bus/BusObject.swift": "sd-bus's slots, messages and userdata",
    "Sources/WakeLoop/Bus/BusSubscription.swift": "sd-bus's slots, messages and userdata",
    "Sources/WakeZlib/Inflater.swift": "zlib's state",
    "Sources/WakePage/EmbeddedFile.swift": "what the program carries is memory of C",
    "Sources/WakeControl/Server/HTTPConnection.swift": "libmicrohttpd's connections",
    "Sources/WakeControl/Server/HTTPEdge.swift": "libmicrohttpd's callbacks",
    "Sources/WakeMQTT/Connection/PahoClient.swift": "Paho's client and what it tells",
    "Sources/WakeHandler/Descriptors.swift": "read and write",
    "Sources/WakeHandler/SocketDescriptors.swift": "recvmsg and the descriptor that comes with it",
    "Sources/WakeWords/ParsedWords.swift": "getopt_long's argv",
    "Sources/wakebridge/Console.swift": "writes a line with one call",
    "Sources/wakebridge/ControlClient.swift": "libcurl's callbacks",
]

/// Files that may vouch for one value, each with its reason.
private let vouchers = [
    "Sources/WakeJournal/Statement.swift": "a pointer to one byte that is never written again"
]

/// Types that may have more than 20 stored properties, each with its reason. None may be added.
private let largeTypes: [String: String] = [:]

/// Of all sources, as the census counted them last. Lower them with what you take away.
private let (mostReferences, mostClosures) = (114, 64)

private func isUnsafe(_ line: Substring) -> Bool {
    ["Unsafe", "OpaquePointer", "Unmanaged"].contains { line.contains($0) }
}

/// `value!`, `call()!`, `array[0]!` and `Type!`; never `a != b` and `!condition`.
private func unwrapsByForce(_ line: Substring) -> Bool {
    let bytes = Array(line.utf8)
    return bytes.indices.dropFirst().contains { place in
        guard bytes[place] == UInt8(ascii: "!") else { return false }
        guard place + 1 == bytes.count || bytes[place + 1] != UInt8(ascii: "=") else { return false }
        let before = Character(UnicodeScalar(bytes[place - 1]))
        return before.isLetter || before.isNumber || ")]}_\"".contains(before)
    }
}

@Suite("Style")
struct StyleTests {
    private let sources = SourceTree.swift + SourceTree.examples
    private let all = SourceTree.swift + SourceTree.examples + SourceTree.tests

    @Test("the rules see the sources")
    func seesSources() {
        #expect(sources.count > 100)
        #expect(SourceTree.tests.contains { $0.name == "StyleTests.swift" })
        #expect(unwrapsByForce("a!") && unwrapsByForce("f()!.b") && unwrapsByForce("try! f()"))
        #expect(!unwrapsByForce("a != b && !c"))
        #expect(SwiftText.code(of: "a(\"b! \\(c(\"d!\")!) e!\") // f!") == "a(     (c(    )!)    )      ")
    }

    @Test("no source forces: no try!, no as!, no unwrapping by force")
    func doesNotForce() {
        for file in sources { #expect(file.places(unwrapsByForce) == []) }
    }

    @Test("no source vouches for itself to the compiler: nothing is @unchecked, nonisolated(unsafe) or @preconcurrency")
    func doesNotVouch() {
        let words = ["@unchecked", "nonisolated(unsafe)", "@preconcurrency"]
        for file in sources where vouchers[file.path] == nil {
            #expect(file.places { line in words.contains { line.contains($0) } } == [])
        }
        for (path, reason) in vouchers {
            let file = sources.first { $0.path == path }
            #expect(file?.code.contains("nonisolated(unsafe)") == true, "\(path) is listed for: \(reason)")
        }
    }

    @Test("nothing is left undone: no source calls fatalError, and no file says that something is still to do")
    func leavesNothingUndone() {
        for file in sources { #expect(file.places { $0.contains("fatalError") } == []) }
        // Spelled apart, or this file would be among those found.
        let words = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]
        for file in SourceTree.everything {
            for (number, line) in file.lines.enumerated() {
                #expect(!words.contains { line.hasWord($0) }, "\(file.path):\(number + 1)")
            }
        }
    }

    @Test("no function is longer than 60 lines, and no type has more than 20 stored properties but those that say why")
    func staysShort() throws {
        let (status, output) = run("python3 Scripts/census.py --text-only --list")
        try #require(status == 0, "\(output)")
        #expect(section("functions over 60 lines", of: output) == [])
        let large = section("types over 20 stored properties", of: output).compactMap { row in
            row.split(separator: " ").first.map(String.init)
        }
        #expect(Set(large) == Set(largeTypes.keys), "their reasons: \(largeTypes)")
    }

    @Test("references that own nothing, and properties that hold closures, become fewer and never more")
    func ownsPlainly() throws {
        let output = run("python3 Scripts/census.py --text-only").output
        let row = try #require(output.split(separator: "\n").first { $0.hasPrefix("all Swift") })
        let figures = row.split(separator: " ").suffix(4).compactMap { Double($0) }
        try #require(figures.count == 4)
        #expect(figures[0] <= Double(mostReferences), "unowned and weak")
        #expect(figures[2] <= Double(mostClosures), "properties that hold closures")
    }

    /// What the census lists below a title: its last mention, since the table has it too.
    private func section(_ title: String, of output: String) -> [String] {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.lastIndex(where: { $0 == title + ":" }) else { return ["the census lists no \(title)"] }
        return lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.map { $0.drop { $0 == " " } }.map(String.init)
    }

    @Test("every file opens with a comment on what it owns")
    func opensWithComment() {
        for file in all + SourceTree.c {
            let opening = file.lines.first ?? ""
            #expect(opening.hasPrefix("// ") || opening.hasPrefix("/* "), "\(file.path) opens with: \(opening)")
        }
    }

    @Test("nothing is named after its vagueness: no Manager, Helper, Util or Utils")
    func namesThings() {
        let words = ["Manager", "Helper", "Util", "Utils", "Utilities"]
        let kinds = ["class", "struct", "enum", "protocol", "typealias", "func"]
        for file in all {
            #expect(!words.contains { file.name.hasSuffix("\($0).swift") }, "\(file.path)")
            let declarations = file.places { line in
                let parts = line.split { !($0.isLetter || $0.isNumber) }
                return zip(parts, parts.dropFirst()).contains { kind, name in
                    kinds.contains(String(kind)) && words.contains { name.hasSuffix($0) }
                }
            }
            #expect(declarations == [])
        }
    }

    @Test("no file names a path of one developer's machine")
    func knowsNoMachine() {
        let paths = ["/wo" + "rk/", "/ho" + "me/", "/Use" + "rs/", "/ro" + "ot/"]
        for file in SourceTree.everything {
            for (number, line) in file.lines.enumerated() {
                #expect(!paths.contains { line.contains($0) }, "\(file.path):\(number + 1)")
            }
        }
    }

    @Test("unsafe pointers stay at the edges that call C, and no edge is listed that needs none")
    func keepsPointersAtTheEdge() {
        for file in sources where edges[file.path] == nil { #expect(file.places(isUnsafe) == []) }
        for (path, reason) in edges {
            let file = sources.first { $0.path == path }
            #expect(file.map { !$0.places(isUnsafe).isEmpty } == true, "\(path) is listed for: \(reason)")
        }
    }
}
