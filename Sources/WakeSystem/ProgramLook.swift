// Whether a user may run a program, judged by owners and modes, without becoming that user.
import Glibc
import WakeModel

public enum ProgramLook {
    /// An obstacle that keeps a user from running a program; each names the path at which it stops.
    public enum Obstacle: Hashable, Sendable {
        case missing(String)
        case closedDirectory(String)
        case noPlainFile(String)
        case notExecutable(String)
        case unreadable(String)
        /// A script that the working directory does not hold, as it is written and as it is looked for.
        case missingArgument(String, path: String)
        /// The working directory.
        case missingDirectory(String)

        public func reason(for user: String) -> String {
            switch self {
            case .missing(let path): "there is no \(path)"
            case .closedDirectory(let path): "\(user) may not enter \(path)"
            case .noPlainFile(let path): "\(path) is no program"
            case .notExecutable(let path): "\(user) may not run \(path)"
            case .unreadable(let path): "\(user) may not read \(path)"
            case .missingArgument(let word, let path): "exec names \"\(word)\", and there is no \(path)"
            case .missingDirectory(let path): "there is no folder \(path), which cwd names"
            }
        }

        public var advice: String {
            switch self {
            case .missing: "put it there, or correct exec"
            case .closedDirectory: "move the program to /opt, or beside its manifest"
            case .noPlainFile: "correct exec"
            case .notExecutable(let path): "run 'chmod a+rx \(path.asShellWord)'"
            case .unreadable(let path): "run 'chmod a+r \(path.asShellWord)'"
            case .missingArgument: "write its absolute path, or set cwd to its folder"
            case .missingDirectory: "make it, or correct cwd"
            }
        }
    }

    /// Nil where nothing is in the way, and where this process may not look.
    /// - Parameters:
    ///   - command: the program's absolute path and its arguments. An interpreter's script is checked too.
    ///   - directory: the absolute path of the folder in which the program starts.
    public static func obstacle(to command: [String], in directory: String, for account: Account) -> Obstacle? {
        guard let program = command.first, program.hasPrefix("/") else { return nil }
        if let obstacle = obstacle(to: program, for: account, asking: 0o1) { return obstacle }
        if isScript(program), let obstacle = obstacle(to: program, for: account, asking: 0o4) { return obstacle }
        guard let word = script(of: command) else { return nil }
        let path = word.hasPrefix("/") ? word : "\(directory)/\(word)"
        let obstacle = obstacle(to: path, for: account, asking: 0o4)
        return obstacle == .missing(path) && path != word ? .missingArgument(word, path: path) : obstacle
    }

    /// The obstacle to entering a working directory that a manifest names.
    public static func obstacle(toEnter directory: String, for account: Account) -> Obstacle? {
        // Its own entry: each folder on the way has to be entered, and so has it.
        switch obstacle(to: directory + "/.", for: account, asking: 0o1) {
        case nil, .noPlainFile: nil
        case .missing: .missingDirectory(directory)
        case let other?: other
        }
    }

    private static let interpreters = ["sh", "bash", "dash", "python", "perl", "ruby", "node"]
    /// Options of shells and Python that take no value and leave the next word the script.
    private static let plainOptions: Set<Character> = ["B", "E", "O", "S", "e", "s", "u", "x"]

    /// The script that an interpreter runs; nil where the program is none, or the words mean something else.
    private static func script(of command: [String]) -> String? {
        // It takes variables before the program, which it finds by PATH.
        let isEnv = command[0].split(separator: "/").last == "env"
        let own = isEnv ? command.dropFirst().drop { $0.contains("=") } : command[...]
        guard let interpreter = own.first, isInterpreter(interpreter) else { return nil }
        let rest = own.dropFirst().drop { word in
            word.count > 1 && word.first == "-" && word.dropFirst().allSatisfy(plainOptions.contains)
        }
        guard let word = rest.first, word.first != "-", !word.isEmpty else { return nil }
        // Perl and Ruby take a program after -e, and Node and Python after -c or -m.
        return rest.count == own.count - 1 || isShellOrPython(interpreter) ? word : nil
    }

    private static func isShellOrPython(_ program: String) -> Bool {
        let name = program.split(separator: "/").last ?? ""
        return name.hasSuffix("sh") || name.hasPrefix("python")
    }

    /// `python3.11` is one too.
    private static func isInterpreter(_ program: String) -> Bool {
        let name = program.split(separator: "/").last ?? ""
        return interpreters.contains {
            name.hasPrefix($0) && name.dropFirst($0.count).allSatisfy { "0123456789.".contains($0) }
        }
    }

    /// The kernel only executes a script; its interpreter reads it as the user.
    private static func isScript(_ path: String) -> Bool {
        var start: [UInt8] = []
        guard let file = try? File.openPlain(path), case .bytes? = try? file.read(appendingTo: &start, limit: 2)
        else {
            return false
        }
        return start == Array("#!".utf8)
    }

    /// - Parameter wanted: the bit of the mode, as for others.
    private static func obstacle(to path: String, for account: Account, asking wanted: mode_t) -> Obstacle? {
        var place = ""
        for name in path.split(separator: "/").dropLast() {
            place += "/" + name
            guard let status = status(of: place) else { return absence(of: place, path) }
            if status.st_mode & S_IFMT != S_IFDIR { return .missing(path) }
            if !account.may(0o1, status) { return .closedDirectory(place) }
        }
        guard let status = status(of: path) else { return absence(of: path, path) }
        if status.st_mode & S_IFMT != S_IFREG { return .noPlainFile(path) }
        if account.may(wanted, status) { return nil }
        return wanted == 0o1 ? .notExecutable(path) : .unreadable(path)
    }

    private static func status(of path: String) -> stat? {
        var found = stat()
        return stat(path, &found) == 0 ? found : nil
    }

    private static func absence(of place: String, _ path: String) -> Obstacle? {
        Errno.last == .noEntry ? .missing(path) : nil
    }
}

extension Account {
    /// Whether owner, group and mode let it: `bit` is that of the mode, as for others.
    func may(_ bit: mode_t, _ status: stat) -> Bool {
        // Root reads and enters everything, and runs what any user may run.
        if user == 0 { return bit != 0o1 || status.st_mode & S_IFMT == S_IFDIR || status.st_mode & 0o111 != 0 }
        if status.st_uid == user { return status.st_mode & (bit << 6) != 0 }
        if groups.contains(status.st_gid) { return status.st_mode & (bit << 3) != 0 }
        return status.st_mode & bit != 0
    }
}
