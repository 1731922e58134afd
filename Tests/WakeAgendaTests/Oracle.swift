// The second reckoning, in Python: asked by a file, it answers a line for each line.
import TestBench
import Testing
import WakeModel
import WakeSystem

enum Oracle {
    /// Python and the zones that it reads.
    static let hindrance: String? = {
        let isThere =
            File.exists("/usr/bin/python3") && File.exists("\(AlarmMachine.zoneFolder)/Australia/Lord_Howe")
        return isThere ? nil : "the oracle of alarms needs /usr/bin/python3 and \(AlarmMachine.zoneFolder)"
    }()

    static func ask(_ questions: [[UInt8]]) throws -> [[Int64]] {
        let ground = Ground("oracle")
        put(questions.reduce(into: []) { $0 += $1 }, at: ground.file("questions"))
        let program = "\(packageFolder)/Tests/WakeAgendaTests/oracle.py"
        let child = try Child(["/usr/bin/python3", "-B", program, ground.file("questions")]).finish()
        try #require(child.exit == 0, "\(child.talk)")
        return try child.output.split(separator: "\n").map { line in
            try #require(try JSONValue(parsing: Array(line.utf8)).array?.compactMap(\.integer))
        }
    }
}
