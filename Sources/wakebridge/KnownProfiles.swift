// The profiles for all verbs: the same that a daemon of this user would load.
import WakeDaemon
import WakeEngine
import WakeProfiles

extension ProfileLibrary {
    /// Prints the faults of profiles that cannot be read.
    static func known() -> ProfileLibrary {
        let (library, errors) = ProfileFolder.load(ProfileFolder.known())
        for error in errors { Console.say("warning: \(error.description)") }
        return library
    }
}
