// The profiles that every verb knows: those that a daemon of this user would know too.
import WakeDaemon
import WakeProfiles

extension ProfileLibrary {
    /// Of those that cannot be read the faults are told.
    static func known() -> ProfileLibrary {
        let (library, errors) = ProfileFolder.load(ProfileFolder.known())
        for error in errors { Console.say("warning: \(error.description)") }
        return library
    }
}
