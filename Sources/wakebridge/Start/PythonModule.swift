// Where the Python module of handlers is, and whether Python finds it there by itself.
import WakeArguments
import WakeModel
import WakeSystem

enum PythonModule {
    /// The variables of a program without a manifest: its Python finds the module as with a manifest of 'new', and the
    /// modules of the caller's shell.
    static var environment: [String: String] {
        let folders = [Environment.value(of: variable), try? path()].compactMap { $0 }
        return folders.isEmpty ? [:] : [variable: folders.joined(separator: ":")]
    }

    static let variable = "PYTHONPATH"

    /// The folder that a handler's PYTHONPATH must name; nil where Python looks there anyway.
    static func path() throws(Complaint) -> String? {
        guard let program = try? File.linkTarget(of: "/proc/self/exe") else {
            throw .failure("cannot find the Python module of handlers: /proc/self/exe cannot be read; mount /proc")
        }
        let prefix = File.parent(of: File.parent(of: program))
        if let installed = installed(below: prefix) {
            return ["/usr", "/usr/local"].contains(prefix) ? nil : installed
        }
        var folder = File.parent(of: program)
        while folder.count > 1 {
            let checkout = folder + "/Packages/python"
            if has(checkout) { return checkout }
            folder = File.parent(of: folder)
        }
        throw .failure(
            "cannot find the Python module of handlers below \(prefix)/lib: install it with 'make install', or write the handler in "
                + "another language with --language")
    }

    /// The module's path in Debian's own packages, or in those of a version of Python.
    private static func installed(below prefix: String) -> String? {
        let versions = (try? Directory.names(in: prefix + "/lib"))?.filter { $0.hasPrefix("python3") } ?? []
        let folders = versions.flatMap { version in
            ["dist-packages", "site-packages"].map { "\(prefix)/lib/\(version)/\($0)" }
        }
        return folders.first(where: has)
    }

    private static func has(_ folder: String) -> Bool { File.exists(folder + "/wakehandler/__init__.py") }
}
