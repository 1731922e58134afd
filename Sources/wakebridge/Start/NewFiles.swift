// Files that the verb new writes: never over others, and each whole before it has its name.
import Glibc
import WakeArguments
import WakeModel
import WakeSystem

struct NewFiles {
    private(set) var paths: [String] = []
    /// Commands to go on with.
    var next: [String] = []

    /// - Parameter mode: 0o755 for programs, 0o644 for what is read.
    mutating func add(_ path: String, _ text: String, mode: UInt32 = 0o644) throws(Complaint) {
        try copy(text, to: path, mode: mode)
        mention(path)
    }

    /// Adds a file to the report, or a folder whose files are too many to list.
    mutating func mention(_ path: String) { paths.append(path) }

    /// Writes one of many files that the report does not list by themselves.
    func copy(_ text: String, to path: String, mode: UInt32 = 0o644) throws(Complaint) {
        try Self.refuse(path)
        // The handler's user must reach and read them, whatever the umask of the one who asks.
        let mask = umask(0o022)
        defer { umask(mask) }
        do throws(SystemError) {
            try Directory.create(File.parent(of: path), mode: 0o755)
            try File.replace(path, with: Array(text.utf8), mode: mode)
        } catch {
            let sentence = "cannot write \(path): \(error.description); "
            throw error.isOfRights
                ? .notPermitted(sentence + "use sudo, or name another place with --directory")
                : .failure(sentence + "name another place with --directory")
        }
    }

    /// The same for files that belong into a directory, which may be there already.
    /// - Parameter paths: relative to the directory.
    static func refuse(_ paths: [String], in directory: String) throws(Complaint) {
        let folders = paths.flatMap { path in
            let parts = path.split(separator: "/")
            return parts.indices.dropFirst().map { parts[..<$0].joined(separator: "/") }
        }
        let inTheWay =
            Set(folders).filter { File.isTaken("\(directory)/\($0)") && !File.exists("\(directory)/\($0)/.") }
            .union(paths.filter { File.isTaken("\(directory)/\($0)") })
        if File.isTaken(directory), !File.exists(directory + "/.") { try refuse(directory) }
        guard !inTheWay.isEmpty else { return }
        let names = inTheWay.sorted()
        let shown = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
        throw .notFound(
            "cannot write into \(directory): \(shown) would be overwritten; move \(names.count == 1 ? "it" : "them") away, "
                + "or name another directory with --directory")
    }

    /// All are looked at before the first is written.
    static func refuse(_ paths: String...) throws(Complaint) {
        for path in paths where File.isTaken(path) {
            throw .notFound("cannot write \(path): it is there already; choose another name, or remove it first")
        }
    }

    mutating func begin(with command: String?) {
        if let command { next.insert(command, at: 0) }
    }

    var text: String {
        let written = paths.map { "wrote \($0)\n" }.joined()
        return next.isEmpty ? written : written + "next:\n" + next.map { "  \($0)\n" }.joined()
    }

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("files", paths)
            writer.field("next", next)
        }
    }
}

extension SystemError {
    /// Another user may do it.
    var isOfRights: Bool { errno == .denied || errno == .notPermitted }
}
