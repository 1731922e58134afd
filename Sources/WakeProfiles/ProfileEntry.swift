// A profile of a library: its head is read at once, the rest when a device needs it.
import Synchronization
import WakeModel

/// A class, so that a library that is copied reads its profiles once.
final class ProfileEntry: Sendable {
    private enum Content {
        case unread
        case read(Profile, ProfileDecoder, faults: [ConfigurationError])
    }

    let head: ProfileHead
    private let source: ProfileLibrary.Source?
    private let shared: SharedCharacteristics
    private let content: Mutex<Content>

    init(whole profile: Profile, isShipped: Bool) {
        head = ProfileHead(
            name: profile.name, title: profile.title, kind: profile.kind, match: profile.match,
            node: profile.accessory?.node, isShipped: isShipped)
        source = nil
        shared = .none
        content = Mutex(.read(profile, ProfileDecoder(profile), faults: []))
    }

    /// Makes the entry of a profile that came with the program.
    init(_ head: ProfileHead, of source: ProfileLibrary.Source, _ shared: SharedCharacteristics) {
        var head = head
        head.isShipped = true
        self.head = head
        self.source = source
        self.shared = shared
        content = Mutex(.unread)
    }

    var profile: Profile { whole.profile }
    var decoder: ProfileDecoder { whole.decoder }

    /// Faults that came to light when the rest was read; its devices are raw then.
    var faults: [ConfigurationError] {
        content.withLock { content in
            if case .read(_, _, let faults) = content { faults } else { [] }
        }
    }

    private var whole: (profile: Profile, decoder: ProfileDecoder) {
        content.withLock { content in
            // A profile that could not be read for want of descriptors is read again.
            if case .read(let profile, let decoder, let faults) = content, !faults.contains(where: \.isPassing) {
                return (profile, decoder)
            }
            let (profile, faults) = read()
            let decoder = ProfileDecoder(profile)
            content = .read(profile, decoder, faults: faults)
            return (profile, decoder)
        }
    }

    private func read() -> (Profile, [ConfigurationError]) {
        guard let source else { return (bare, []) }
        do throws(ConfigurationErrors) {
            let text = try source.text()
            do throws(ConfigurationErrors) {
                return (try ProfileDocument.read(text, folder: source.name, file: source.file, shared: shared), [])
            } catch { return (bare, error.located(in: text).all) }
        } catch { return (bare, error.all) }
    }

    /// The head alone.
    private var bare: Profile {
        Profile(
            name: head.name, title: head.title, kind: head.kind, match: head.match, notify: [], readAtConnect: [],
            accessory: head.node.map { AccessoryPlan(node: $0) }, channelNames: [:], programs: [],
            advertisement: AdvertisementProgram())
    }
}
