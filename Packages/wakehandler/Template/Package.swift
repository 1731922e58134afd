// swift-tools-version: 6.0
// The handler @NAME@, and its tests.
import PackageDescription

let package = Package(
    name: "@NAME@",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "wakehandler", path: "Packages/wakehandler")],
    targets: [
        .executableTarget(
            name: "@MODULE@",
            dependencies: [.product(name: "WakeHandler", package: "wakehandler")]
        ),
        .testTarget(
            name: "@MODULE@Tests",
            dependencies: ["@MODULE@", .product(name: "WakeHandlerTesting", package: "wakehandler")]
        ),
    ]
)
