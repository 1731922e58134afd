// swift-tools-version: 6.0
// The layers of the bridge, in the order an event passes through them; an arrow never points upwards.
import PackageDescription

let package = Package(
    name: "wakebridge",
    products: [
        .library(name: "WakeHandler", targets: ["WakeHandler"]),
        .library(name: "WakeHandlerFoundation", targets: ["WakeHandlerFoundation"]),
        .library(name: "WakeHandlerTesting", targets: ["WakeHandlerTesting"]),
        .executable(name: "wakebridged", targets: ["wakebridged"]),
        .executable(name: "wakebridge", targets: ["wakebridge"]),
        .executable(name: "wakebridge-transferd", targets: ["wakebridge-transferd"]),
    ],
    targets: [
        // The C boundary.
        .target(name: "CLinux"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
        // Takes headers of libbluetooth-dev alone, and links nothing of it.
        .target(name: "CBluetooth"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // Takes the header of libmicrohttpd-dev, and loads the library when it is needed.
        .target(name: "CMicrohttpd"),
        // Loads libcrypto when it is needed, and takes no header of it: profiles are read on systems without one too.
        .target(name: "CCrypto"),
        // Loads libqrencode when a code is drawn, and takes no header of it.
        .target(name: "CQRCode"),
        // Loads Eclipse Paho when a broker is configured, and takes no header of it.
        .target(name: "CPaho"),
        .systemLibrary(name: "CGetopt"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // Carries the files of the folder `Web`, which the assembler looks for where headers are looked for.
        .target(name: "CPage", cSettings: [.headerSearchPath("../../Web")]),
        // CCurl makes one request at a time, for the tool; CCurlMulti makes many at once, for transfers.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCurlMulti", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // Pure: no clock, no descriptor, no log.
        .target(name: "WakeModel", linkerSettings: [.linkedLibrary("m")]),
        .target(name: "WakeCore", dependencies: ["WakeModel"]),
        .target(name: "WakeTransfer", dependencies: ["WakeModel"]),
        .target(name: "WakeAgenda", dependencies: ["WakeModel", "WakeTransfer"]),
        .target(name: "WakeProfiles", dependencies: ["WakeModel", "CCrypto"]),
        .target(name: "WakeArguments", dependencies: ["WakeModel", "CGetopt"]),

        // Thin edges.
        .target(name: "WakeSystem", dependencies: ["WakeModel", "CLinux", "CBluetooth", "CUdev", "CCrypto", "CZlib"]),
        .target(name: "WakeLoop", dependencies: ["WakeModel", "WakeSystem", "CSystemd"]),
        .target(name: "WakeJournal", dependencies: ["WakeModel", "CSQLite"]),
        .target(name: "WakeTrace", dependencies: ["WakeModel"]),
        // Only the tool changes and compares traces.
        .target(name: "WakeTraceEditing", dependencies: ["WakeModel", "WakeTrace"]),
        .target(name: "WakeHCI", dependencies: ["WakeModel"]),
        .target(name: "WakeMQTT", dependencies: ["WakeModel", "WakeProfiles", "WakeSystem", "WakeLoop", "CPaho"]),
        .target(
            name: "WakeSources",
            dependencies: ["WakeModel", "WakeProfiles", "WakeTrace", "WakeHCI", "WakeSystem", "WakeLoop"]),
        .target(name: "WakeDoctor", dependencies: ["WakeModel", "WakeHCI", "WakeSystem", "WakeLoop", "WakeSources"]),
        // Of the tool alone: captures into traces and back, finding and pairing peripherals, drafting and checking profiles.
        .target(name: "WakeCapture", dependencies: ["WakeModel", "WakeTrace", "WakeHCI", "WakeSystem"]),
        .target(name: "WakePairing", dependencies: ["WakeModel", "WakeSystem", "WakeLoop", "WakeSources"]),
        .target(name: "WakeAuthoring", dependencies: ["WakeModel", "WakeProfiles", "WakeTrace", "WakeSources"]),
        .target(name: "WakeControl", dependencies: ["WakeModel", "WakeSystem", "WakeLoop", "CMicrohttpd"]),

        // Composition, and what people hold in their hands.
        .target(
            name: "WakeEngine",
            dependencies: [
                "WakeModel", "WakeCore", "WakeTransfer", "WakeAgenda", "WakeProfiles", "WakeSystem", "WakeLoop",
                "WakeJournal", "WakeTrace", "WakeMQTT", "WakeSources",
            ]),
        .target(
            name: "WakeAPI",
            dependencies: [
                "WakeModel", "WakeCore", "WakeAgenda", "WakeProfiles", "WakeJournal", "WakeSystem", "WakeLoop",
                "WakeTrace", "WakeSources", "WakeEngine", "WakeControl", "CPage",
            ]),
        .target(
            name: "WakeDaemon",
            dependencies: [
                "WakeModel", "WakeCore", "WakeTransfer", "WakeAgenda", "WakeProfiles", "WakeJournal", "WakeSystem",
                "WakeLoop", "WakeTrace", "WakeMQTT", "WakeSources", "WakeEngine", "WakeControl", "WakeAPI",
                "WakeArguments",
            ]),
        .target(name: "WakeHandler", dependencies: ["WakeModel"]),
        .target(name: "WakeHandlerFoundation", dependencies: ["WakeHandler"]),
        .target(name: "WakeHandlerTesting", dependencies: ["WakeModel", "WakeProfiles", "WakeTrace", "WakeHandler"]),
        .executableTarget(name: "wakebridged", dependencies: ["WakeDaemon"]),
        .executableTarget(
            name: "wakebridge-transferd",
            dependencies: ["WakeModel", "WakeTransfer", "WakeSystem", "WakeLoop", "CCurlMulti", "CCrypto"]),
        .executableTarget(
            name: "wakebridge",
            dependencies: [
                "WakeModel", "WakeProfiles", "WakeSystem", "WakeLoop", "WakeSources", "WakeDoctor", "WakeEngine",
                "WakeDaemon", "WakeControl", "WakeTrace", "WakeTraceEditing", "WakeCapture", "WakePairing",
                "WakeAuthoring", "WakeArguments",
                "CCurl", "CQRCode",
            ]),

        .target(
            name: "TestBench",
            dependencies: ["SteppedClock", "SteppedPage", "WakeControl", "WakeLoop", "WakeModel", "WakeSystem"],
            path: "Tests/TestBench", exclude: ["bluez.py", "devices.py", "nodes.py"]),
        .target(
            name: "DeviceLibrary",
            dependencies: [
                "WakeAuthoring", "WakeEngine", "WakeModel", "WakeProfiles", "WakeSources", "WakeSystem", "WakeTrace",
            ],
            path: "Tests/DeviceLibrary"),
        .testTarget(
            name: "WakeControlTests",
            dependencies: ["TestBench", "WakeAPI", "WakeControl", "WakeLoop", "WakeModel", "WakeSystem"]),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "TestBench", "wakebridge", "WakeAPI", "WakeArguments", "WakeControl", "WakeLoop", "WakeModel",
                "WakeSystem",
            ], exclude: ["bluez.py", "terminal.py"]),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "ExampleHoldLine", "SteppedDaemon", "TestBench", "TickingDaemon", "wakebridge", "wakebridged",
                "WakeModel", "WakeSystem",
            ]),
        .target(name: "TickTrigger", dependencies: ["WakeAgenda", "WakeModel"], path: "Tests/TickTrigger"),
        .executableTarget(
            name: "TickingDaemon",
            dependencies: [
                "TickTrigger", "WakeAgenda", "WakeDaemon", "WakeLoop", "WakeModel", "WakeProfiles", "WakeSources",
                "WakeSystem",
            ],
            path: "Tests/TickingDaemon"),
        // Its clocks and alarms are moved by the tests; no program that is installed links them.
        .target(name: "SteppedClock", path: "Tests/SteppedClock"),
        .target(name: "SteppedPage", dependencies: ["WakeLoop", "WakeModel", "WakeSystem"], path: "Tests/SteppedPage"),
        .executableTarget(
            name: "SteppedDaemon",
            dependencies: ["SteppedClock", "SteppedPage", "WakeDaemon", "WakeLoop", "WakeModel", "WakeSystem"],
            path: "Tests/SteppedDaemon"),
        .testTarget(name: "WakeSystemTests", dependencies: ["TestBench", "NodeReader", "WakeModel", "WakeSystem"]),
        .executableTarget(name: "NodeReader", dependencies: ["WakeModel", "WakeSystem"], path: "Tests/NodeReader"),
        .testTarget(
            name: "WakeAgendaTests",
            dependencies: ["TestBench", "WakeAgenda", "WakeModel", "WakeSystem", "WakeTransfer"],
            exclude: ["oracle.py"]),
        .testTarget(name: "WakeTransferTests", dependencies: ["WakeModel", "WakeTransfer"]),
        .testTarget(
            name: "TransferdTests",
            dependencies: [
                "TestBench", "wakebridge", "wakebridged", "wakebridge-transferd", "WakeModel", "WakeSystem",
            ],
            exclude: ["server.py", "handler.py", "without_openat2.py"]),
        .testTarget(name: "WakeCoreTests", dependencies: ["TestBench", "WakeCore"]),
        .testTarget(name: "WakeLoopTests", dependencies: ["TestBench", "WakeLoop", "WakeModel", "WakeSystem"]),

        .testTarget(
            name: "WakeSourcesTests",
            dependencies: [
                "TestBench", "UdevProbe", "WakeSources", "WakePairing", "WakeLoop", "WakeModel", "WakeProfiles",
                "WakeSystem", "WakeTrace",
            ]),
        .testTarget(
            name: "WakeDoctorTests",
            dependencies: [
                "TestBench", "WakeDoctor", "WakeControl", "WakeHCI", "WakeLoop", "WakeModel", "WakeSystem",
            ]),
        .testTarget(
            name: "WakeProfilesTests", dependencies: ["TestBench", "WakeModel", "WakeProfiles", "WakeSystem"]),
        .testTarget(
            name: "WakeAuthoringTests",
            dependencies: [
                "DeviceLibrary", "TestBench", "WakeAuthoring", "WakeModel", "WakeProfiles", "WakeSources", "WakeSystem",
                "WakeTrace",
            ],
            exclude: ["gss.py"]),
        .testTarget(
            name: "WakeDaemonTests",
            dependencies: [
                "ConditionProbe", "TestBench", "TickTrigger", "WakeAgenda", "WakeDaemon", "WakeEngine", "WakeModel",
                "WakeCore", "WakeMQTT",
                "WakeProfiles", "WakeSources", "WakeLoop", "WakeJournal", "WakeSystem", "WakeTrace", "WakeAPI",
                "WakeControl",
            ]),
        .testTarget(
            name: "WakeTraceTests",
            dependencies: ["TestBench", "WakeTrace", "WakeTraceEditing", "WakeAgenda", "WakeModel"]),
        .testTarget(
            name: "WakeCaptureTests", dependencies: ["TestBench", "WakeCapture", "WakeHCI", "WakeTrace", "WakeModel"]),
        .testTarget(
            name: "WakePairingTests",
            dependencies: ["TestBench", "WakePairing", "WakeSources", "WakeLoop", "WakeModel", "WakeSystem"]),
        .executableTarget(
            name: "ExampleHeartRate", dependencies: ["WakeHandler"], path: "Examples/handlers/HeartRateLogger"),
        .executableTarget(
            name: "ExampleBeatPrinter", dependencies: ["WakeHandler"], path: "Examples/handlers/BeatPrinter"),
        .executableTarget(
            name: "ExampleBeatSequence", dependencies: ["WakeHandler"], path: "Examples/handlers/BeatSequence"),
        .executableTarget(
            name: "ExampleNightlyBackup", dependencies: ["WakeHandler"], path: "Examples/handlers/NightlyBackup"),
        .executableTarget(
            name: "ExampleLetterReader", dependencies: ["WakeHandler"], path: "Examples/handlers/LetterReader"),
        .executableTarget(
            name: "ExampleMapUpdater", dependencies: ["WakeHandler"], path: "Examples/handlers/MapUpdater"),
        .executableTarget(name: "ExampleHoldLine", dependencies: ["WakeHandler"], path: "Examples/handlers/HoldLine"),
        .executableTarget(
            name: "ExampleHeartRateRelay", dependencies: ["WakeHandler"], path: "Examples/handlers/HeartRateRelay"),
        .executableTarget(
            name: "ExampleStrapDiary", dependencies: ["WakeHandler"], path: "Examples/handlers/StrapDiary"),

        // What the tests run.
        .target(name: "BenchmarkProbe", path: "Tests/Benchmarks/Probe"),
        .target(name: "BenchmarkReport", dependencies: ["WakeModel"], path: "Tests/Benchmarks/Report"),
        .testTarget(
            name: "BenchmarkTests",
            dependencies: ["BenchmarkProbe", "BenchmarkReport", "TestBench", "WakeModel", "WakeSystem"],
            path: "Tests/Benchmarks/Tests"),
        .executableTarget(name: "FixtureHandler", path: "Tests/FixtureHandler"),
        .target(name: "PlantedFaults", path: "Tests/Planted/Faults"),
        .executableTarget(name: "Planted", dependencies: ["PlantedFaults"], path: "Tests/Planted/Program"),
        .executableTarget(
            name: "ConditionProbe",
            dependencies: ["WakeAgenda", "WakeEngine", "WakeLoop", "WakeModel", "WakeSystem"],
            path: "Tests/ConditionProbe"),
        .executableTarget(name: "UdevProbe", dependencies: ["WakeSources", "WakeSystem"], path: "Tests/UdevProbe"),
        .testTarget(
            name: "ArchitectureTests",
            dependencies: ["TestBench", "WakeSystem", "WakeDaemon", "WakeEngine", "wakebridged", "wakebridge"]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "DeviceLibrary", "TestBench", "wakebridge", "wakebridged", "FixtureHandler", "ExampleHeartRate",
                "WakeModel", "WakeSystem",
            ]),
        .testTarget(
            name: "WakeMQTTTests",
            dependencies: ["TestBench", "WakeMQTT", "WakeLoop", "WakeModel", "WakeSystem"]),
        .testTarget(
            name: "BrokerTests",
            dependencies: [
                "TestBench", "wakebridge", "wakebridged", "FixtureHandler", "WakeLoop", "WakeMQTT", "WakeModel",
                "WakeProfiles", "WakeSystem",
            ],
            exclude: ["check_discovery.py", "outside.py", "requirements.txt", "tap.py"]),
        .testTarget(
            name: "LabTests", dependencies: ["TestBench", "WakeSystem"],
            path: "Tests/Lab/Suite"),
        .testTarget(
            name: "TortureTests",
            dependencies: [
                "TestBench", "wakebridge", "wakebridged", "FixtureHandler", "WakeJournal", "WakeModel", "WakeSystem",
            ]),
        .testTarget(
            name: "CountedTests",
            dependencies: ["BenchmarkProbe", "FixtureHandler", "TestBench", "wakebridge", "WakeSystem"],
            exclude: ["baseline.txt"]),
        .executableTarget(name: "Attacker", path: "Tests/Hostile"),
        .testTarget(
            name: "HostileTests",
            dependencies: [
                "TestBench", "wakebridge", "wakebridged", "Attacker", "FixtureHandler", "WakeModel", "WakeSystem",
            ], exclude: ["broker.py", "network.py"]),
        .testTarget(
            name: "BreakTests", dependencies: ["TestBench", "wakebridge", "wakebridged", "WakeModel", "WakeSystem"]),
        .testTarget(name: "WakePageTests", dependencies: ["TestBench", "WakeAPI", "WakeSystem"]),
        .testTarget(name: "WakeModelTests", dependencies: ["WakeModel"]),
        .testTarget(
            name: "WakeHandlerTests",
            dependencies: [
                "TestBench", "WakeHandler", "WakeHandlerFoundation", "WakeHandlerTesting", "WakeCore", "WakeAgenda",
                "WakeEngine", "WakeModel",
                "WakeProfiles", "WakeSystem", "WakeTrace", "ExampleHeartRate", "ExampleBeatPrinter",
                "ExampleBeatSequence", "ExampleHoldLine", "ExampleNightlyBackup", "ExampleLetterReader",
                "ExampleMapUpdater", "ExampleStrapDiary", "ExampleHeartRateRelay",
                "FixtureHandler",
            ]),
        .testTarget(name: "WakeJournalTests", dependencies: ["WakeJournal", "JournalCrasher", "TestBench"]),
        .executableTarget(name: "JournalCrasher", dependencies: ["WakeJournal"], path: "Tests/JournalCrasher"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "DeviceLibrary", "WakeAPI", "WakeAgenda", "WakeCapture", "WakeControl", "WakeEngine", "WakeHCI",
                "WakeLoop", "WakeMQTT", "WakeModel", "WakeProfiles", "WakeSources", "WakeSystem", "WakeTrace",
                "WakeTraceEditing", "WakeTransfer",
            ],
            path: "Tests/Fuzz/Targets"),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestBench"]),
    ]
)

// The programs that measure are built by Scripts/bench.sh alone: no test needs them.
if Context.environment["WAKEBRIDGE_BENCH"] != nil {
    package.targets += [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "BenchmarkProbe", "BenchmarkReport", "WakeDaemon", "WakeEngine", "WakeModel", "WakeLoop",
                "WakeProfiles", "WakeSystem", "WakeTrace", "WakeTransfer",
            ],
            path: "Tests/Benchmarks/Suite"),
        .executableTarget(name: "JournalBenchmark", dependencies: ["WakeJournal"], path: "Tests/JournalBenchmark"),
    ]
}

// Links libFuzzer, whose place in the toolchain Scripts/fuzz.sh finds: no other build has it.
if Context.environment["WAKEBRIDGE_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/Driver"),
        .executableTarget(
            name: "Fuzz", dependencies: ["CFuzzer", "FuzzTargets", "WakeSystem"], path: "Tests/Fuzz/Program"),
    ]
}

// The tests' build, Scripts/test.py: the modules are compiled as those that are installed, and the tests quickly.
if Context.environment["WAKEBRIDGE_OPTIMIZED"] != nil {
    let lines = ["-whole-module-optimization", "-num-threads", "2", "-gline-tables-only"]
    let optimized =
        lines + [
            "-O", "-enforce-exclusivity=unchecked",
            "-Xfrontend", "-function-sections", "-Xfrontend", "-disable-incremental-llvm-codegen",
        ]
    for target in package.targets where [.regular, .executable, .test].contains(target.type) {
        let isMeasured = ["Benchmarks", "BenchmarkReport", "JournalBenchmark"].contains(target.name)
        let isInstalled = target.path == nil && target.type != .test
        let flags = isInstalled || isMeasured ? optimized : lines
        target.swiftSettings = [.unsafeFlags(flags, .when(configuration: .debug))]
        // A debug build leaves C as it is. Only targets of C have the flag: Swift would hand it to its own Clang.
        if isInstalled, target.name.hasPrefix("C") {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
        }
    }
}
