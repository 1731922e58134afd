// The shared libraries that a program asks for by name, read from its dynamic section with binutils' readelf.
import Glibc
import TestBench

/// Where the test bundle lies, there lie the programs.
let builtPrograms = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
}()

enum ElfDependencies {
    static func names(of program: String) throws -> [String] {
        let output = run("readelf --dynamic --wide '\(program)'").output
        return output.split(separator: "\n").compactMap { line in
            guard line.contains("(NEEDED)"), let start = line.firstIndex(of: "["), let end = line.lastIndex(of: "]")
            else { return nil }
            return String(line[line.index(after: start)..<end])
        }
    }
}

/// Runs a line of shell in the package's folder; what it says on standard output and standard error together.
func run(_ script: String) -> (status: Int32, output: String) {
    guard let pipe = popen("cd '\(packageFolder)' && { \(script)\n} 2>&1 </dev/null", "r") else { return (-1, "") }
    var bytes: [UInt8] = []
    while true {
        let byte = getc(pipe)
        guard byte != EOF else { break }
        bytes.append(UInt8(truncatingIfNeeded: byte))
    }
    let status = pclose(pipe)
    return (status & 0x7f == 0 ? (status >> 8) & 0xff : -1, String(decoding: bytes, as: UTF8.self))
}
