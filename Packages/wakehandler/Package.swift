// swift-tools-version: 6.0
// The library of handler authors as a package of its own. Scripts/wakehandler.sh puts its sources beside this file.
import PackageDescription

let package = Package(
    name: "wakehandler",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "WakeHandler", targets: ["WakeHandler"]),
        .library(name: "WakeHandlerFoundation", targets: ["WakeHandlerFoundation"]),
        .library(name: "WakeHandlerTesting", targets: ["WakeHandlerTesting"]),
    ],
    targets: [
        .target(name: "WakeModel", linkerSettings: [.linkedLibrary("m")]),
        .target(name: "CCrypto"),
        .target(name: "WakeProfiles", dependencies: ["WakeModel", "CCrypto"]),
        .target(name: "WakeTrace", dependencies: ["WakeModel"]),
        .target(name: "WakeHandler", dependencies: ["WakeModel"]),
        .target(name: "WakeHandlerFoundation", dependencies: ["WakeHandler"]),
        .target(name: "WakeHandlerTesting", dependencies: ["WakeModel", "WakeProfiles", "WakeTrace", "WakeHandler"]),
    ]
)
