// The machine's sleep: logind waits a moment for the daemon, which notifies and freezes the handlers first.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Holds logind's *delay* lock for as long as the machine is awake: a lock taken only while a handler runs would cost
/// two calls a wake, and would come too late for the wake that meets the sleep. It holds nothing up when all are frozen.
final class SleepInhibitor {
    private unowned let turn: Turn
    private let loop: EventLoop
    private let address: BusAddress
    private var giveUp: Timer?
    private var bus: BusConnection?
    /// Logind is asked for the lock.
    private var request: (job: BackgroundJob<Result<[BusValue], BusError>>, watch: Watch)?
    private var subscriptions: [BusSubscription] = []
    /// Closing it lets the machine sleep, as far as we are concerned.
    private var lock: BusDescriptor?
    private var isPreparing = false
    /// How long handlers have; logind may wait for less.
    private var patience = SleepPatience.longest
    private let log = Log("sleep")

    init(turn: Turn, loop: EventLoop, bus: SystemBus) throws(SystemError) {
        (self.turn, self.loop, address) = (turn, loop, bus.address)
        giveUp = try loop.timer(on: .monotonic, of: self) { $0.letSleep() }
        bus.listen(of: self) { inhibitor, change in
            switch change {
            case .connected(let connection): inhibitor.watch(connection)
            case .lost: inhibitor.forget()
            }
        }
    }

    private func watch(_ connection: BusConnection) {
        bus = connection
        do throws(SystemError) {
            subscriptions = [
                try connection.subscribe(.sleep, of: self) { $0.hear($1) },
                try connection.subscribe(.logindOwner, of: self) { inhibitor, signal in
                    inhibitor.changeOwner(isThere: signal.arguments.last?.string?.isEmpty == false)
                },
            ]
        } catch {
            log.error("\(error.description); the machine may sleep without notice to handlers")
        }
        inhibit()
    }

    /// A logind that ended does not announce the end of the sleep that it announced, and neither does the next one.
    private func changeOwner(isThere: Bool) {
        if isPreparing { return wakeUp() }
        if isThere { inhibit() }
    }

    private func forget() {
        subscriptions = []
        bus = nil
        dropRequest()
        lock = nil
        // Without logind the end of the sleep is not announced.
        wakeUp()
    }

    private func hear(_ signal: BusSignal) {
        guard let isBeginning = signal.arguments.first?.boolean else { return }
        if isBeginning { prepare() } else { wakeUp() }
    }

    private func prepare() {
        guard !isPreparing else { return }
        isPreparing = true
        log.notice("the machine is going to sleep; handlers have \(patience.spoken)")
        giveUp?.arm(at: SystemClock.monotonic() + patience + SleepPatience.reserve)
        turn.ingest(.systemSleep(.preparing(within: patience)))
    }

    private func letSleep() {
        giveUp?.disarm()
        lock = nil
    }

    private func wakeUp() {
        giveUp?.disarm()
        guard isPreparing else { return }
        isPreparing = false
        log.notice("the machine is awake again")
        turn.ingest(.systemSleep(.over))
        inhibit()
    }

    private func inhibit() {
        guard bus != nil else { return }
        dropRequest()
        do throws(SystemError) {
            let job = try address.ask(.delaySleep, within: .seconds(5))
            request = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.takeLock() })
        } catch {
            log.warning("\(error.description); the machine may sleep without notice to handlers")
        }
        bus?.call(.longestDelay, within: .seconds(5), of: self) { inhibitor, result in
            guard let microseconds = (try? result.get())?.first?.integer, microseconds > 0 else { return }
            let granted = TimeSpan.microseconds(microseconds) - SleepPatience.reserve
            inhibitor.patience = max(.zero, min(SleepPatience.longest, granted))
        }
    }

    /// A watch ends before what it watches is closed. A lock that comes later is released.
    private func dropRequest() {
        request?.watch.cancel()
        request = nil
    }

    private func takeLock() {
        guard let result = request?.job.removeResult() else { return }
        dropRequest()
        switch result {
        case .success(let values): lock = values.first?.descriptor
        case .failure(let error) where error.isNobodyThere:
            log.info("there is no logind on the bus; the machine's sleep is not announced to handlers")
        case .failure(let error):
            log.warning(
                "could not ask logind to delay sleep for handlers: \(error); the machine may sleep without notice")
        }
    }
}

extension SleepInhibitor: TurnObserver {
    /// The handlers may have frozen during this turn.
    func turnEnded() {
        if isPreparing, lock != nil, turn.isReadyForSleep { letSleep() }
    }
}

private let logind = "org.freedesktop.login1"
private let logindPath = "/org/freedesktop/login1"
private let logindManager = "org.freedesktop.login1.Manager"

extension BusRule {
    fileprivate static let sleep = BusRule(
        sender: logind, path: .exactly(logindPath), interface: logindManager, member: "PrepareForSleep")
    fileprivate static let logindOwner = BusRule(
        sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged", argument: logind)
}

extension BusCall {
    /// A delay lock (org.freedesktop.login1(5), "Inhibit").
    fileprivate static let delaySleep = BusCall(
        logind, logindPath, logindManager, "Inhibit",
        ["sleep", "WakeBridge", "Handlers are told and frozen first", "delay"].map(BusValue.string))
    fileprivate static let longestDelay = BusCall(
        logind, logindPath, "org.freedesktop.DBus.Properties", "Get",
        [.string(logindManager), .string("InhibitDelayMaxUSec")])
}
