// The other bridges of the settings, each with its connection to a broker.
import WakeEngine
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

enum RemoteBridges {
    /// A bridge that cannot be created is reported and left out.
    static func all(
        _ settings: [RemoteSettings], on loop: EventLoop, _ warnings: BrokerWarnings, stateDirectory: String
    ) -> [RemoteBridge] {
        guard !settings.isEmpty else { return [] }
        let identity = ClientIdentity(in: stateDirectory)
        return settings.compactMap { one in
            do throws(SystemError) {
                let options = try one.broker.options(clientIdentifier: "\(identity.text)-\(one.bridge)")
                let feed = try BrokerFeed(of: one.bridge, on: loop, options, topic: one.topic, warnings)
                return RemoteBridge(
                    name: one.bridge, stream: one.topic, broker: one.broker.address.text, feed: feed)
            } catch {
                Log("remote").error("\(error.description); devices of bridge \(one.bridge) are not watched")
                warnings.fail(
                    .bridge(one.bridge), at: one.broker.address, error, remedy: "restart wakebridged")
                return nil
            }
        }
    }
}

/// The name by which a broker knows this daemon. It must stay the same, or the broker forgets what waits for it.
private struct ClientIdentity {
    private(set) var text = ""

    init(in directory: String) {
        var file = LineFileStore(directory + "/remote-client", Log("remote"))
        var kept = ""
        file.read("what waits at the brokers of remote is lost") { line in
            let word = String(decoding: line, as: UTF8.self)
            guard word.hasPrefix(Self.prefix), word.utf8.count < 64 else { return "it is no name of a client" }
            kept = word
            return nil
        }
        text = kept.isEmpty ? Self.prefix + UInt64.random(in: .min ... .max).hexadecimal : kept
        guard kept.isEmpty else { return }
        do throws(SystemError) { try file.write([text]) } catch {
            Log("remote").error("\(error.description); after a restart the brokers of remote will not know this daemon")
        }
    }

    private static let prefix = "wakebridge-"
}
