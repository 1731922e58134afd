// Every address of the API that the tool asks for stands in the table from which the API's description is written.
import TestBench
import Testing
import WakeAPI
import WakeControl

@Suite("What the tool asks the daemon") struct ToolAddressTests {
    private struct Literal {
        var file: String
        var line: String
        /// What is interpolated stands in it as `x`; without its query.
        var path: String
    }

    /// Of the form `"/v1/…"`, and `path(ofHandler: …, "…")`.
    private func literals() -> [Literal] {
        let folder = "\(packageFolder)/Sources/wakebridge"
        let files = names(in: folder).flatMap { group in names(in: "\(folder)/\(group)").map { "\(group)/\($0)" } }
        return files.filter { $0.hasSuffix(".swift") }.flatMap { file in
            lines(of: "\(folder)/\(file)").flatMap { line -> [Literal] in
                let whole = line.ranges(of: "\"/v1/").map { String(line[$0.lowerBound...].dropFirst()) }
                let ofHandler = line.ranges(of: "path(ofHandler:").compactMap { range -> String? in
                    let words = line[range.upperBound...].split(separator: ", \"", maxSplits: 1)
                    return words.count == 2 ? "/v1/handlers/x/\(words[1])" : nil
                }
                return (whole + ofHandler).map { Literal(file: file, line: line, path: plain($0)) }
            }
        }
    }

    private func plain(_ text: String) -> String {
        var (path, depth) = ("", 0)
        var characters = text.makeIterator()
        while let character = characters.next() {
            switch (character, depth) {
            case ("\\", 0):
                _ = characters.next()
                depth = 1
                path.append("x")
            case ("(", 1...): depth += 1
            case (")", 1...): depth -= 1
            case ("\"", 0), ("?", 0): return path
            case (_, 0): path.append(character)
            case (_, _): break
            }
        }
        return path
    }

    /// By the way in which the line asks; nil where it is composed for a later line.
    private func method(_ line: String) -> String? {
        if line.contains(".post") || line.contains("order(") { return "POST" }
        return line.contains(".get") || line.contains("report(words") || line.contains("answer(") ? "GET" : nil
    }

    /// What is interpolated may be any one component.
    private func isAt(_ parts: [String], _ route: Route) -> Bool {
        parts.count == route.path.count
            && zip(parts, route.path).allSatisfy { $0 == "x" || $0 == $1 || Route.isFree($1) }
    }

    @Test("each address is one of the API's, with the method that the API has for it")
    func addresses() {
        let all = literals()
        #expect(all.count > 40)
        for literal in all {
            // A device may be appended to it.
            let path = literal.path.hasSuffix("x") && literal.path.contains("events") ? "/v1/events" : literal.path
            let parts = path.split(separator: "/").map(String.init)
            let here = API.routes.all.filter { isAt(parts, $0) }
            let method = method(literal.line)
            let fits = here.contains { method == nil || $0.method == method }
            #expect(fits, "\(literal.file): \(method ?? "") \(path)")
        }
    }
}
