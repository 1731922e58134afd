// Devices without hardware: umockdev emulates the node of a recorded or made device for the program that reads it.
import Glibc
import TestBench
import Testing

struct Emulation {
    static let program = "/usr/bin/umockdev-run"
    static var isPossible: Bool { access(program, X_OK) == 0 }

    let node: String
    let device: String
    /// What its ioctls answer.
    let answers: String
    var script: String?

    /// The lines that the reader prints.
    func read(_ kind: String, _ arguments: String...) throws -> [String] {
        let emulation =
            [Self.program, "-d", device, "-i", "\(node)=\(answers)"] + (script.map { ["-s", "\(node)=\($0)"] } ?? [])
        let (_, output, talk) = try Child(emulation + ["--", Built.nodeReader, kind, node] + arguments).finish()
        if output.isEmpty { Issue.record("\(talk)") }
        return output.split(separator: "\n").map(String.init)
    }
}

/// The lowest byte first.
func littleEndian(_ numbers: [Int32]) -> [UInt8] {
    numbers.flatMap { number in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } }
}
