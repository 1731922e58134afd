// Arrows run downwards only: who may import what, as tests over the import lines.
import Testing
import WakeSystem

/// A module and all that it may import. A module stands below everything that it may be imported by.
private let layers: [(module: String, imports: Set<String>)] = [
    ("WakeModel", ["Synchronization"]),
    ("WakeCore", ["WakeModel"]),
    ("WakeTransfer", ["WakeModel"]),
    ("WakeAgenda", ["WakeModel", "WakeTransfer"]),
    ("WakeProfiles", ["WakeModel", "CCrypto", "Synchronization"]),
    ("WakeTrace", ["WakeModel"]),
    ("WakeHCI", ["WakeModel"]),
    ("WakeZlib", ["CZlib"]),
    ("WakeCapture", ["WakeModel", "WakeTrace", "WakeHCI", "WakeZlib"]),
    // For systems beside Linux too.
    ("WakeHandler", ["WakeModel", "Darwin", "Glibc", "Musl"]),
    (
        "WakeHandlerTesting",
        ["WakeModel", "WakeProfiles", "WakeTrace", "WakeHandler", "Darwin", "Glibc", "Musl"]
    ),
    ("WakeWords", ["WakeModel", "CWords", "Glibc"]),
    ("WakeJournal", ["WakeModel", "CSQLite", "Glibc"]),
    ("WakeSystem", ["WakeModel", "CLinux", "CBluetooth", "CUdev", "Glibc", "Synchronization"]),
    ("WakeLoop", ["WakeModel", "WakeSystem", "CSystemd", "Glibc"]),
    ("WakeMQTT", ["WakeModel", "WakeProfiles", "WakeSystem", "WakeLoop", "CPaho", "Glibc"]),
    ("WakeSources", ["WakeModel", "WakeProfiles", "WakeTrace", "WakeHCI", "WakeSystem", "WakeLoop"]),
    ("WakeAuthoring", ["WakeModel", "WakeProfiles", "WakeTrace", "WakeSources"]),
    ("WakePairing", ["WakeModel", "WakeSystem", "WakeLoop", "WakeSources"]),
    ("WakeDoctor", ["WakeModel", "WakeHCI", "WakeSystem", "WakeLoop", "WakeSources", "Glibc"]),
    ("WakePage", ["WakeModel", "CPage", "WakeZlib"]),
    ("WakeControl", ["WakeModel", "WakeSystem", "WakeLoop", "CMicrohttpd", "Glibc"]),
    (
        "WakeEngine",
        [
            "WakeModel", "WakeCore", "WakeTransfer", "WakeAgenda", "WakeProfiles", "WakeTrace", "WakeJournal",
            "WakeSystem", "WakeLoop", "WakeMQTT", "WakeSources", "Glibc",
        ]
    ),
    (
        "WakeDaemon",
        [
            "WakeModel", "WakeCore", "WakeTransfer", "WakeAgenda", "WakeProfiles", "WakeTrace", "WakeWords",
            "WakeJournal", "WakeSystem", "WakeLoop", "WakeMQTT", "WakeSources", "WakeEngine", "WakeControl", "WakePage",
            "Glibc",
        ]
    ),
    ("wakebridged", ["WakeDaemon", "Glibc"]),
    ("wakebridge-transferd", ["WakeModel", "WakeTransfer", "WakeSystem", "WakeLoop", "CCurl", "CCrypto", "Glibc"]),
    (
        "wakebridge",
        [
            // Of the loop for scanning and pairing, which speak to bluetoothd and need no daemon.
            "WakeModel", "WakeCore", "WakeProfiles", "WakeTrace", "WakeCapture", "WakeWords", "WakeSystem", "WakeLoop",
            "WakeSources", "WakePairing", "WakeAuthoring", "WakeDoctor", "WakeControl", "WakeEngine", "WakeDaemon",
            "CCurl", "CQRCode",
            "Glibc", "Synchronization",
        ]
    ),
]

@Suite("Layers")
struct LayerTests {
    @Test("every module imports only what the architecture allows it", arguments: layers.map(\.module))
    func importsItsShare(module: String) {
        let allowed = layers.first { $0.module == module }?.imports ?? []
        for file in SourceTree.swift where file.module == module {
            #expect(Set(file.imports).subtracting(allowed) == [], "\(file.path)")
        }
    }

    @Test("every module has its place in the layers, and arrows between modules run downwards only")
    func runsDownwards() throws {
        let folders = Set(SourceTree.swift.map(\.module))
        #expect(folders == Set(layers.map(\.module)))
        var below: Set<String> = []
        for layer in layers {
            #expect(layer.imports.intersection(folders).subtracting(below) == [], "\(layer.module) looks upwards")
            below.insert(layer.module)
        }
    }

    @Test("the model imports nothing but a lock, and the core nothing but the model")
    func isPure() {
        for file in SourceTree.swift where file.module == "WakeModel" {
            #expect(Set(file.imports).isSubset(of: ["Synchronization"]), "\(file.path)")
        }
        for file in SourceTree.swift where file.module == "WakeCore" {
            #expect(Set(file.imports).isSubset(of: ["WakeModel"]), "\(file.path)")
        }
    }

    @Test("the doctor judges without looking: only what lies in Look imports more than the model")
    func judgesApart() {
        let files = SourceTree.swift.filter { $0.module == "WakeDoctor" }
        let judging = files.filter { !$0.path.contains("/Look/") }
        #expect(judging.count > 1 && judging.count < files.count)
        for file in judging { #expect(Set(file.imports).isSubset(of: ["WakeModel"]), "\(file.path)") }
    }

    @Test("model, core, traces, captures, HCI and profiles read no clock, draw no lots and print nothing")
    func hasNoEffects() {
        let words = ["print(", "ContinuousClock", "SuspendingClock", ".random(", "SystemRandomNumberGenerator"]
        for file in SourceTree.swift
        where ["WakeModel", "WakeCore", "WakeTrace", "WakeHCI", "WakeCapture", "WakeProfiles"].contains(file.module) {
            #expect(file.places { line in words.contains { line.contains($0) } } == [])
        }
    }

    @Test(
        "each system library has one importer, and what programs on both sides of a border need has two",
        arguments: [
            "CLinux": ["WakeSystem"], "CSystemd": ["WakeLoop"], "CSQLite": ["WakeJournal"],
            "CMicrohttpd": ["WakeControl"], "CBluetooth": ["WakeSystem"], "CUdev": ["WakeSystem"],
            "CWords": ["WakeWords"], "CPage": ["WakePage"], "CZlib": ["WakeZlib"], "CQRCode": ["wakebridge"],
            "CPaho": ["WakeMQTT"], "CCrypto": ["WakeProfiles", "wakebridge-transferd"],
            "CCurl": ["wakebridge", "wakebridge-transferd"],
        ])
    func hasItsImporters(library: String, importers: Set<String>) {
        let found = Set(SourceTree.swift.filter { $0.imports.contains(library) }.map(\.module))
        #expect(found == importers)
    }

    @Test("no file imports Foundation, FoundationEssentials or Dispatch")
    func avoidsFoundation() {
        for file in SourceTree.swift + SourceTree.examples {
            #expect(
                Set(file.imports).isDisjoint(with: ["Foundation", "FoundationEssentials", "Dispatch"]), "\(file.path)")
        }
    }

    @Test("there are no actors and nothing asynchronous outside the handler authors' libraries")
    func isSynchronous() {
        for file in SourceTree.swift where !file.module.hasPrefix("WakeHandler") {
            #expect(file.places { $0.hasWord("async") || $0.hasWord("await") || $0.hasWord("actor") } == [])
        }
    }

    @Test(
        "the built daemon links neither libcurl nor libcrypto nor libmicrohttpd, which brings TLS along, nor Foundation nor Dispatch"
    )
    func linksLittle() throws {
        let names = try ElfDependencies.names(of: builtPrograms + "/wakebridged")
        #expect(names.contains { $0.hasPrefix("libc.so") }, "\(names)")
        for unwanted in [
            "libcurl", "libcrypto", "libmicrohttpd", "libFoundation.so", "libFoundationNetworking", "libdispatch",
        ] {
            #expect(!names.contains { $0.hasPrefix(unwanted) }, "\(names)")
        }
    }
}
