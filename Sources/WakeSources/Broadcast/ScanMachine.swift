// Makes one adapter listen to broadcasts: by an advertisement monitor, or by a scan with pauses if bluetoothd has no
// monitors. It uses neither while a link is being made. Pure.
import WakeModel

/// The facts of an adapter.
struct ScanFacts: Hashable, Sendable {
    /// A device or region is wanted, and the adapter is powered.
    var isWanted = false
    /// Bluetoothd offers advertisement monitors, and bytes identify everything that is wanted.
    var hasMonitors = false
    /// Counts changes of a monitor's patterns: bluetoothd reads them once, so that other patterns take another monitor.
    var edition = 0
    /// A link is being made, or its services are being looked up.
    var isLinking = false
    /// `Discovering` is true, by any client's doing. In a crowd bluetoothd reports it late, behind all advertisements.
    var isDiscovering = false
}

enum ScanRequest: Hashable, Sendable {
    case registerMonitor, unregisterMonitor, startDiscovery, stopDiscovery
    /// Bluetoothd reports whether the adapter scans.
    case look
}

enum ScanInput: Hashable, Sendable {
    case facts(ScanFacts)
    case answered(ScanRequest, failed: Bool)
    case looked(isScanning: Bool)
    /// The kernel takes the monitor: it listens.
    case activated
    /// Bluetoothd lets the monitor go.
    case released
    case tick
}

struct ScanMachine: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        case idle
        /// Registered, and not activated yet.
        case registering(until: Instant)
        case monitoring
        case starting
        /// Begun, by the answer: that may have been another program's, for the end of both scans.
        case confirming
        case scanning(until: Instant)
        /// Between two scans, so that others have the radio.
        case resting(until: Instant)
        /// Refused, or ended by another.
        case waiting(until: Instant)
        /// For a link that is being made.
        case yielding
    }

    private var phase = Phase.idle
    private(set) var facts = ScanFacts()
    /// The edition of the registered monitor.
    private var registeredEdition = 0
    /// Monitors were refused in this life of bluetoothd.
    private var distrustsMonitors = false
    private var failures: Int64 = 0

    /// A monitor that is not activated by then is one that the kernel refuses.
    static let activation = TimeSpan.seconds(2)
    static let scan = TimeSpan.seconds(60)
    static let rest = TimeSpan.seconds(2)
    private static let (shortestWait, longestWait) = (TimeSpan.milliseconds(500), TimeSpan.seconds(60))

    /// A radio listens at the daemon's request.
    var isListening: Bool {
        switch phase {
        case .monitoring, .confirming, .scanning: true
        // The pause is short, and part of listening.
        case .resting: true
        case .idle, .registering, .starting, .waiting, .yielding: false
        }
    }

    var isMonitoring: Bool { phase == .monitoring }

    /// Bluetoothd scans at the daemon's request, or rests between two scans.
    var isScanning: Bool {
        switch phase {
        case .starting, .confirming, .scanning, .resting: true
        case .idle, .registering, .monitoring, .waiting, .yielding: false
        }
    }

    var deadline: Instant? {
        switch phase {
        case .registering(let until), .scanning(let until), .resting(let until), .waiting(let until): until
        case .idle, .monitoring, .starting, .confirming, .yielding: nil
        }
    }

    mutating func step(_ input: ScanInput, at now: Instant) -> [ScanRequest] {
        switch input {
        case .facts(let new):
            let saidItEnded = facts.isDiscovering && !new.isDiscovering
            facts = new
            return follow(now) + (saidItEnded && isBegun ? [.look] : [])
        case .answered(let request, let failed): return answer(request, failed, now)
        case .looked(let isScanning): return compareScan(isScanning, now)
        case .activated:
            guard case .registering = phase else { return [] }
            (phase, failures) = (.monitoring, 0)
            return []
        case .released:
            guard isRegistered else { return [] }
            distrustsMonitors = true
            phase = .idle
            return follow(now)
        case .tick: return tick(now)
        }
    }

    private var isRegistered: Bool {
        switch phase {
        case .registering, .monitoring: true
        case .idle, .starting, .confirming, .scanning, .resting, .waiting, .yielding: false
        }
    }

    private var mayScan: Bool {
        switch phase {
        case .starting, .confirming, .scanning: true
        case .idle, .registering, .monitoring, .resting, .waiting, .yielding: false
        }
    }

    private var isBegun: Bool {
        switch phase {
        case .confirming, .scanning: true
        case .idle, .registering, .monitoring, .starting, .resting, .waiting, .yielding: false
        }
    }

    private mutating func follow(_ now: Instant) -> [ScanRequest] {
        guard facts.isWanted else { return end(in: .idle) }
        // A monitor listens beside the kernel's own connecting; a scan is in its way.
        if facts.isLinking, !isRegistered { return end(in: .yielding) }
        switch phase {
        case .idle, .yielding: return facts.isLinking ? [] : begin(now)
        case .registering, .monitoring: return isOutdated ? end(in: .idle) + follow(now) : []
        case .starting, .confirming, .scanning, .resting, .waiting: return []
        }
    }

    private var isOutdated: Bool { !facts.hasMonitors || facts.edition != registeredEdition }

    private mutating func end(in next: Phase) -> [ScanRequest] {
        defer { phase = next }
        if isRegistered { return [.unregisterMonitor] }
        return mayScan ? [.stopDiscovery] : []
    }

    /// Bluetoothd may end the daemon's scan in another program's stead.
    private mutating func compareScan(_ isScanning: Bool, _ now: Instant) -> [ScanRequest] {
        guard isBegun else { return [] }
        guard isScanning else { return wait(now) }
        if phase == .confirming { (phase, failures) = (.scanning(until: now + Self.scan), 0) }
        return []
    }

    private mutating func wait(_ now: Instant) -> [ScanRequest] {
        let wait = min(Self.shortestWait * (1 << min(failures, 10)), Self.longestWait)
        failures += 1
        defer { phase = .waiting(until: now + wait) }
        return mayScan ? [.stopDiscovery] : []
    }

    private mutating func begin(_ now: Instant) -> [ScanRequest] {
        if facts.hasMonitors, !distrustsMonitors {
            phase = .registering(until: now + Self.activation)
            registeredEdition = facts.edition
            return [.registerMonitor]
        }
        phase = .starting
        return [.startDiscovery]
    }

    private mutating func answer(_ request: ScanRequest, _ failed: Bool, _ now: Instant) -> [ScanRequest] {
        switch (request, phase) {
        case (.registerMonitor, .registering) where failed:
            distrustsMonitors = true
            phase = .idle
            return follow(now)
        case (.startDiscovery, .starting) where failed:
            _ = wait(now)
            return []
        case (.startDiscovery, .starting):
            phase = .confirming
            return [.look]
        case (.registerMonitor, _), (.unregisterMonitor, _), (.startDiscovery, _), (.stopDiscovery, _), (.look, _):
            return []
        }
    }

    private mutating func tick(_ now: Instant) -> [ScanRequest] {
        guard let deadline, deadline <= now else { return [] }
        switch phase {
        case .registering:
            distrustsMonitors = true
            phase = .idle
            return [.unregisterMonitor] + follow(now)
        case .scanning:
            phase = .resting(until: now + Self.rest)
            return [.stopDiscovery]
        case .resting, .waiting:
            phase = .idle
            return follow(now)
        case .idle, .monitoring, .starting, .confirming, .yielding: return []
        }
    }
}
