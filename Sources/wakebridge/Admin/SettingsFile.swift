// wakebridge.json5, as far as the tool reads and writes it: one value is set or taken away, and all else stays as it is.
import Glibc
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

struct SettingsFile {
    let path: String
    let settings: BridgeSettings
    /// Nil where there is no file.
    private let text: String?
    /// As it was: another user may not be meant to read it.
    private let mode: UInt32

    /// That of the directory which the words name, else of the daemon that they reach.
    /// - Parameter verb: what to run with sudo where this user may not write.
    init(of words: ParsedArguments, for verb: String) throws(Complaint) {
        let named = try NamedPlaces(words)
        if named.isNamed {
            try self.init(at: named.settingsFile)
            return
        }
        let isOfSystem = words.client.isOfSystem
        if isOfSystem, geteuid() != 0 {
            throw .notPermitted("the settings of the system's daemon belong to root; run 'sudo wakebridge \(verb)'")
        }
        let places = isOfSystem ? BridgePlaces.machine : BridgePlaces.mine
        try self.init(at: places.configuration + "/wakebridge.json5")
    }

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

    /// Writes a value of one key, such as `"sudo"` for `control_group`; nothing is written that a daemon would refuse.
    /// - Parameter value: JSON5; another text is a string.
    /// - Returns: what of it a running daemon takes.
    @discardableResult func set(_ key: String, to value: String) throws(Complaint) -> SettingsChange {
        let names = SettingsText.names(of: key)
        let isValue = (try? JSONValue(json5: Array(value.utf8))) != nil
        // A group may be called 1000.
        let forms = isValue ? [value, value.asJSON] : [value.asJSON]
        var refusal: Complaint?
        for form in forms {
            var changed = SettingsText(Array((text ?? "").utf8))
            guard changed.set(names, to: form) else { throw unusual(key, value) }
            let read: BridgeSettings
            do throws(ConfigurationErrors) { read = try BridgeSettings(text: changed.text, file: path) } catch {
                refusal = refusal ?? .failure(error.all.map(\.sentence).joined(separator: "; "))
                continue
            }
            try write(String(decoding: changed.text, as: UTF8.self))
            return SettingsChange(from: settings, to: read)
        }
        throw refusal ?? unusual(key, value)
    }

    private func unusual(_ key: String, _ value: String) -> Complaint {
        .failure("cannot set \(key) in \(path), whose form is unusual; write \(key) there by hand")
    }

    /// Takes a line away that ``set(_:to:)`` wrote.
    func remove(_ line: String) throws(Complaint) {
        let style = SettingsStyle(of: Array((text ?? "").utf8))
        guard let text, let place = text.firstRange(of: "\n\(style.indentation)\(style.written(line)),") else {
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
