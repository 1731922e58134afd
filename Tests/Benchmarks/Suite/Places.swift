// Where the programs lie that are measured or compared with; what is not there says why.
import Glibc
import WakeSystem

enum Places {
    /// What was built beside this program.
    static func sibling(_ name: String) throws(SystemError) -> String {
        let own = try Program.own()
        return own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/" + name
    }

    /// The checkout that this program was built in.
    static func checkout() throws -> String {
        var folder = try Program.own()[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            if File.exists(folder + "/Devices/heart-rate-monitor") { return String(folder) }
        }
        throw Failure("the benchmarks must run from the checkout they were built in")
    }

    /// The functions that the release is linked in order of.
    static func order() throws -> String { try checkout() + "/Scripts/wake.order" }

    static func handler() throws -> String { try made("handler") }
    static func event() throws -> String { try made("event") }
    static func peer(_ name: String) throws -> String { try checkout() + "/Tests/Benchmarks/Peers/" + name }

    /// A small C program that Scripts/prepare-bench.sh compiled.
    private static func made(_ name: String) throws -> String {
        let path = try checkout() + "/.build/bench/" + name
        guard File.exists(path) else { throw Failure("\(path) is not there: run Scripts/prepare-bench.sh") }
        return path
    }

    /// The Python that has what the peers need.
    static func python() throws -> String {
        let folder = try checkout() + "/.build/bench"
        let python = folder + "/venv/bin/python"
        if File.exists(python) { return python }
        let reason = (try? File.text(at: folder + "/reason"))?.split(separator: "\n").first
        throw Failure(reason.map(String.init) ?? "\(python) is not there: run Scripts/prepare-bench.sh")
    }

    /// The Python that a script's first line would name.
    static func systemPython() throws -> String {
        guard File.exists("/usr/bin/python3") else { return try python() }
        return "/usr/bin/python3"
    }
}

/// Folders on a tmpfs, where the runtime directory is meant to be, on machines whose /run is none too.
enum MemoryFolder {
    static func make() throws(SystemError) -> String {
        guard File.exists("/dev/shm") else { return try Directory.makeTemporary(prefix: "wakebridge-bench") }
        for number in 0..<1_000 {
            let path = "/dev/shm/wakebridge-bench-\(getpid())-\(number)"
            if mkdir(path, 0o700) == 0 { return path }
        }
        throw SystemError("make a folder in", "/dev/shm", .last)
    }
}
