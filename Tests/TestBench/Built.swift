// The programs that were built with these tests.
import Glibc

package enum Built {
    /// `WAKEBRIDGE_TOOL` names another tool than the one beside the tests.
    package static var tool: String {
        if let named = getenv("WAKEBRIDGE_TOOL") { return String(cString: named) }
        return program("wakebridge")
    }
    package static var daemon: String { program("wakebridged") }

    private static func program(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let test = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return test.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/" + name
    }

    /// Runs the tool where it needs no daemon.
    package static func run(_ arguments: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child([tool] + arguments).finish()
    }
}
