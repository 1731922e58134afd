// The content of a scrape as plain values: of the daemon, its journal, its devices, its adapters and its handlers.
import WakeControl
import WakeCore
import WakeModel

struct MetricsSnapshot {
    var bridge: BridgeFacts
    var journal: JournalFacts
    var events: [EventFacts]
    var gaps: [GapCause: UInt64]
    var devices: [DeviceFacts]
    var adapters: [AdapterStatus]
    var handlers: [HandlerFacts]

    struct BridgeFacts {
        var version: String
        var startTime: WallTime
        var processorTime: TimeSpan
        var residentBytes: Int
        var suspendsByCgroup: Bool
        var warnings: [BridgeWarning]
        var stays: [LoopStayReport]
    }

    struct JournalFacts {
        struct Store {
            var name: String
            var bytes: Int
            var isHealthy: Bool
        }

        var stores: [Store]
        var limitBytes: Int
        var commits: UInt64
    }

    /// Events of one mode: of all its devices, the forgotten ones too, or of what the agenda has of it.
    struct EventFacts {
        var mode: String
        var byKind: [(kind: String, count: UInt64)]
        var unwatched: UInt64
    }

    struct DeviceFacts {
        enum Link: String, CaseIterable { case connected, disconnected, unknown }

        var alias: String
        var uri: String
        var mode: String
        var profile: String
        var link: Link
        var lastData: WallTime?
        var counts: DeviceCounts
    }

    struct HandlerFacts {
        var name: String
        var standing: HandlerStatus
        var counts: HandlerCounts
        var delivered: UInt64
        var budget: TimeSpan
        /// Nil while there is no process.
        var processorTime: TimeSpan?
        var deadLetters: Int
        var scheduled: Int
    }
}
