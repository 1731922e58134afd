// A handler's manifest in a trace: what decides when it is woken, in one line, and nothing that only its program is given.
import WakeModel
import WakeProfiles

extension HandlerManifest {
    /// Keys of the program alone. Its arguments and environment may be secret, and a trace is made to be passed on.
    private static let keysOfProgram = ["exec", "user", "group", "groups", "env", "cwd", "limits", "notify"]

    /// An object of JSON in one line; nil where it was not read from a text.
    package var tracedText: String? {
        guard case .object(let members)? = try? JSONValue(json5: text) else { return nil }
        var writer = JSONWriter()
        writer.value(.object(members.filter { !Self.keysOfProgram.contains($0.name) }))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads one for a replay, which starts no program. Throws what is wrong with it, profiles included.
    public init(
        replaying id: String, file: String, text: [UInt8], _ profiles: ProfileLibrary
    ) throws(ConfigurationErrors) {
        try self.init(id: id, file: file, text: text, isRoot: false, isRun: false)
        // A trace proves no bond, and what is in it was received.
        settings.requirements.remove(.bonded)
        let faults = faults(against: profiles)
        if !faults.isEmpty { throw ConfigurationErrors(faults) }
    }
}
