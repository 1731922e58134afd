// Where the tests' program begins. Without this file SwiftPM searches an index of all tests for those of XCTest, and there are none.
import Testing

@main
struct Main {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
