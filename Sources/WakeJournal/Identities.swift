// Numbers of devices and handlers: issued once, valid as long as the journal exists, and kept in both databases.
import WakeModel

struct Identities {
    private(set) var devices: [EventOrigin: Device] = [:]
    private(set) var origins: [String: EventOrigin] = [:]
    private(set) var handlers: [HandlerID: HandlerRow] = [:]
    private(set) var handlerIDs: [String: HandlerID] = [:]
    /// No number up to these is issued again: the rows that named them are damaged.
    var floor = (handler: UInt32(0), device: UInt32(0))
    /// False where rows, or the file that held them, were damaged.
    var isComplete = true

    /// The highest number of a device so far.
    private var highest = UInt32(0)

    mutating func set(_ id: EventOrigin, _ device: Device) {
        (devices[id], origins[device.uri]) = (device, id)
        highest = max(highest, id.rawValue)
    }
    mutating func remove(_ id: EventOrigin) {
        if let former = devices.removeValue(forKey: id) { origins[former.uri] = nil }
    }

    mutating func set(_ id: HandlerID, _ row: HandlerRow) { (handlers[id], handlerIDs[row.name]) = (row, id) }

    var nextDevice: EventOrigin { EventOrigin(rawValue: max(floor.device, highest) + 1) }
    var nextHandler: HandlerID { HandlerID(rawValue: max(floor.handler, handlers.keys.max()?.rawValue ?? 0) + 1) }

    /// Each number that both know means the same to both.
    func agree(with store: EventStore) -> Bool {
        store.devices().sound.allSatisfy { id, device in
            (devices[id].map { $0.uri == device.uri } ?? true) && (origins[device.uri] ?? id) == id
        }
            && store.handlers().sound.allSatisfy { id, row in
                (handlers[id]?.name ?? row.name) == row.name && (handlerIDs[row.name] ?? id) == id
            }
    }

    func write(to store: EventStore) {
        for (id, device) in devices { store.perform(.device(id, device)) }
        for (id, row) in handlers { store.perform(.handler(id, row)) }
    }
}

extension Journal {
    /// The device's number. Stores a new alias or profile of a known device.
    public func origin(of device: Device) -> EventOrigin {
        let id = identities.origins[device.uri] ?? identities.nextDevice
        if identities.devices[id] != device { store(device, as: id) }
        return id
    }

    /// Drawn once for each journal: the seed of all that is spread.
    public var seed: UInt64 { UInt64(origin, radix: 16) ?? 0 }

    /// The number is another device's from now on. No event of the former one may be pending.
    public func rename(_ id: EventOrigin, to device: Device) {
        identities.remove(id)
        store(device, as: id)
    }

    public func device(_ id: EventOrigin) -> Device? { identities.devices[id] }

    public func devices() -> [(EventOrigin, Device)] {
        identities.devices.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    public func handlerID(named name: String) -> HandlerID {
        if let id = identities.handlerIDs[name] { return id }
        let id = identities.nextHandler
        identities.set(id, HandlerRow(name: name))
        for store in stores { store.perform(.handler(id, HandlerRow(name: name))) }
        return id
    }

    public func knownHandlerID(named name: String) -> HandlerID? { identities.handlerIDs[name] }
    public func handlerName(of id: HandlerID) -> String? { identities.handlers[id]?.name }
    /// An operator has stopped it.
    public func isStopped(_ handler: HandlerID) -> Bool { identities.handlers[handler]?.isStopped ?? false }
    /// The handlers whose name begins with the prefix.
    public func handlers(ofInstancesOf prefix: String) -> [HandlerID] {
        identities.handlers.filter { $0.value.name.hasPrefix(prefix) }.keys.sorted()
    }
    public func checkpoint(of handler: HandlerID) -> String? { identities.handlers[handler]?.checkpoint }

    public func setCheckpoint(_ text: String, of handler: HandlerID) { change(handler) { $0.checkpoint = text } }
    public func setStopped(_ isStopped: Bool, _ handler: HandlerID) { change(handler) { $0.isStopped = isStopped } }

    private func change(_ id: HandlerID, _ body: (inout HandlerRow) -> Void) {
        guard var row = identities.handlers[id] else { return }
        body(&row)
        identities.set(id, row)
        disk.perform(.handler(id, row))
    }

    private func store(_ device: Device, as id: EventOrigin) {
        identities.set(id, device)
        for store in stores { store.perform(.device(id, device)) }
    }

    // MARK: At the start

    /// The disk's identities count. The run database's replace identities that the disk lost.
    func adoptIdentities() {
        let (devices, handlers) = (disk.devices(), disk.handlers())
        for (id, device) in devices.sound { identities.set(id, device) }
        for (id, row) in handlers.sound { identities.set(id, row) }
        if let run {
            if isForeign(run) { setAside(run) }
            adoptIdentities(of: run, isStopped: handlers.damaged > 0)
        }
        if devices.damaged + handlers.damaged > 0 { repairIdentities(devices.damaged, handlers.damaged) }
        let isSound = devices.damaged + handlers.damaged == 0 && !stores.contains(where: \.condition.wasDamaged)
        identities.isComplete = isSound && disk.database != nil
        if !isSound { raiseFloor() }
    }

    /// - Parameter isStopped: a damaged row of the disk may have marked its handler as stopped, so it counts as
    /// stopped.
    private func adoptIdentities(of run: EventStore, isStopped: Bool) {
        for (id, device) in run.devices().sound where identities.devices[id] == nil { store(device, as: id) }
        for (id, row) in run.handlers().sound where identities.handlers[id] == nil {
            let row = HandlerRow(name: row.name, isStopped: isStopped)
            identities.set(id, row)
            disk.perform(.handler(id, row))
        }
        identities.write(to: run)
    }

    private func repairIdentities(_ devices: Int, _ handlers: Int) {
        disk.report(
            "the journal \(disk.path) has \(devices) devices and \(handlers) handlers that are not what was written; "
                + "their checkpoints are gone and handlers whose stopped flag is in doubt stay stopped until 'wakebridge start'"
        )
        disk.perform(.clearIdentities)
        identities.write(to: disk)
    }

    private func raiseFloor() {
        for store in stores {
            let (handler, device) = store.highestNumbers()
            identities.floor = (max(identities.floor.handler, handler), max(identities.floor.device, device))
        }
    }

    private func isForeign(_ run: EventStore) -> Bool {
        if let ours = start.disk["origin"], let other = start.run["origin"], ours != other { return true }
        return !identities.agree(with: run)
    }

    private func setAside(_ run: EventStore) {
        let aside = run.setAside()
        run.report("the journal \(run.path) belongs to another state directory; it was set aside as \(aside)")
        start.run = [:]
    }
}
