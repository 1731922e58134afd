// Finds in the files of a configuration what its daemon would warn of, where no daemon runs that could be asked.
import Glibc
import WakeControl
import WakeEngine
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

/// Looks at files alone, and leaves out what this user may not read: the daemon may be another.
public struct ConfigurationLook {
    private let configuration: String
    private let state: String
    private let isRoot: Bool

    /// - Parameter configuration: the directory that holds `wakebridge.json5` and `handlers.d`.
    public init(in configuration: String) {
        let machine = BridgePlaces.machine
        self.configuration = configuration
        isRoot = geteuid() == 0 || configuration == machine.configuration
        state = (isRoot ? machine : .mine).state
    }

    public var warnings: [BridgeWarning] {
        let (profiles, faults) = ProfileFolder.load(ProfileFolder.known(in: configuration))
        return ofSettings + RefusalWarnings.ofProfiles(faults) + ofManifests(profiles)
    }

    // MARK: Settings and brokers

    private var ofSettings: [BridgeWarning] {
        let file = configuration + "/wakebridge.json5"
        guard let text = text(of: file) else { return [] }
        do throws(ConfigurationErrors) {
            return Self.ofBrokers(try BridgeSettings(text: text, file: file))
        } catch {
            return [RefusalWarnings.ofSettings(error.located(in: text).all, isRunning: false)].compactMap { $0 }
        }
    }

    private static func ofBrokers(_ settings: BridgeSettings) -> [BridgeWarning] {
        typealias Connection = (purpose: BrokerWarnings.Purpose, broker: BrokerSettings)
        var connections: [Connection] = settings.remotes.map { (.bridge($0.bridge), $0.broker) }
        if let mqtt = settings.mqtt { connections.append((.publishing, mqtt.broker)) }
        return connections.compactMap { purpose, broker -> BridgeWarning? in
            do throws(SystemError) { _ = try broker.options(clientIdentifier: "") } catch {
                let isHidden = geteuid() != 0 && error.errno == .denied && error.advice == nil
                return isHidden ? nil : BrokerWarnings.warning(of: purpose, at: broker.address, error, remedy: nil)
            }
            return MQTTFault.ofLibrary.map { BrokerWarnings.warning(of: purpose, at: broker.address, $0) }
        }
    }

    // MARK: Manifests

    private func ofManifests(_ profiles: ProfileLibrary) -> [BridgeWarning] {
        let accounts = AccountBook.withoutPlaces()
        let folder = configuration + "/handlers.d"
        return ((try? TrustedDirectory.names(in: folder)) ?? []).sorted().compactMap { name -> BridgeWarning? in
            let file = "\(folder)/\(name)"
            guard let id = HandlerManifest.identifier(ofFile: name), let text = text(of: file) else { return nil }
            let reading = ManifestReading(of: file, id: id, text: text, isRoot: isRoot, profiles, accounts)
            guard reading.faults.isEmpty else {
                return RefusalWarnings.ofManifest(id, reading.faults, isFormerInForce: false)
            }
            guard let account = try? accounts.account(of: reading.manifest) ?? accounts.current() else { return nil }
            return ManifestWarnings.ofProgram(reading.manifest, account, stateDirectory: state)
        }
    }

    private func text(of file: String) -> [UInt8]? { try? TrustedFile.bytes(at: file, limit: 1 << 20) }
}
