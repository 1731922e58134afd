// wakebridge.json5, as far as the tool reads and writes it: one line is added or taken away, and all else stays as it is.
import WakeEngine
import WakeProfiles
import WakeSystem
import WakeWords

struct SettingsFile {
    let path: String
    let settings: BridgeSettings
    /// Nil where there is no file.
    private let text: String?
    /// As it was: another user may not be meant to read it.
    private let mode: UInt32

    init(at path: String) throws(Complaint) {
        self.path = path
        mode = File.mode(of: path) ?? 0o644
        guard File.exists(path) else {
            (settings, text) = (BridgeSettings(), nil)
            return
        }
        do {
            let text = try File.text(at: path)
            settings = try BridgeSettings(text: Array(text.utf8), file: path)
            self.text = text
        } catch let errors as ConfigurationErrors {
            throw .failure(errors.all.map(\.description).joined(separator: "; "))
        } catch {
            throw .failure("\(error)")
        }
    }

    /// Adds one key, such as `control_group: "sudo"`, where the file has none of that name.
    func add(_ line: String) throws(Complaint) {
        var new = "{\n  \(line),\n}\n"
        if let text, let brace = text.firstIndex(of: "{") {
            new = text[...brace] + "\n  \(line)," + text[text.index(after: brace)...]
        }
        let key = line.prefix { $0 != ":" }
        guard let read = try? BridgeSettings(text: Array(new.utf8), file: path), read != settings else {
            throw .failure("cannot add \(key) to \(path), whose form is unusual; write \(line) there")
        }
        try write(new)
    }

    /// Takes a line away that ``add(_:)`` wrote.
    func remove(_ line: String) throws(Complaint) {
        guard let text, let place = text.firstRange(of: "\n  \(line),") else {
            let key = line.prefix { $0 != ":" }
            throw .failure("\(path) says \(key) in a form of its own; take it out there by hand")
        }
        try write(String(text[..<place.lowerBound] + text[place.upperBound...]))
    }

    private func write(_ new: String) throws(Complaint) {
        do throws(SystemError) {
            try Directory.create(File.parent(of: path), mode: 0o755)
            try File.replacePlain(path, with: Array(new.utf8), mode: mode)
        } catch {
            throw .failure(error.description)
        }
    }
}
