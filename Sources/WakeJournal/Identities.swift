// Devices and handlers by number: given once, for as long as the journal lives, and kept in both databases.
import WakeModel

struct Identities {
    private(set) var devices: [EventOrigin: Device] = [:]
    private(set) var origins: [String: EventOrigin] = [:]
    private(set) var handlers: [HandlerID: HandlerRow] = [:]
    private(set) var handlerIDs: [String: HandlerID] = [:]
    /// No number up to these is given again: rows that said whose they were are damaged.
    var floor = (handler: UInt32(0), device: UInt32(0))
    /// False where rows, or the file that held them, were not what was written.
    var areWhole = true

    mutating func set(_ id: EventOrigin, _ device: Device) { (devices[id], origins[device.uri]) = (device, id) }
    mutating func set(_ id: HandlerID, _ row: HandlerRow) { (handlers[id], handlerIDs[row.name]) = (row, id) }

    var nextDevice: EventOrigin { EventOrigin(rawValue: max(floor.device, devices.keys.max()?.rawValue ?? 0) + 1) }
    var nextHandler: HandlerID { HandlerID(rawValue: max(floor.handler, handlers.keys.max()?.rawValue ?? 0) + 1) }

    /// Every number both know means the same to both.
    func agrees(with store: EventStore) -> Bool {
        store.devices().sound.allSatisfy { id, device in
            (devices[id].map { $0.uri == device.uri } ?? true) && (origins[device.uri] ?? id) == id
        }
            && store.handlers().sound.allSatisfy { id, row in
                (handlers[id]?.name ?? row.name) == row.name && (handlerIDs[row.name] ?? id) == id
            }
    }
}

extension Journal {
    /// The device's number; a new alias or profile of a known source is written down.
    public func origin(of device: Device) -> EventOrigin {
        let id = identities.origins[device.uri] ?? identities.nextDevice
        if identities.devices[id] != device { store(device, as: id) }
        return id
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

    public func handlerName(of id: HandlerID) -> String? { identities.handlers[id]?.name }
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

    /// The disk's identities count; those of the run database stand in for what the disk lost.
    func adoptIdentities() {
        let (devices, handlers) = (disk.devices(), disk.handlers())
        for (id, device) in devices.sound { identities.set(id, device) }
        for (id, row) in handlers.sound { identities.set(id, row) }
        if let run, isForeign(run) { setAside(run) }
        adoptFromRun(wasStopped: handlers.damaged > 0)
        if devices.damaged + handlers.damaged > 0 { tellDamaged(devices.damaged, handlers.damaged) }
        let isSound = devices.damaged + handlers.damaged == 0 && !stores.contains(where: \.wasDamaged)
        identities.areWhole = isSound && disk.database != nil
        if !isSound { raiseFloor() }
    }

    /// A row of the disk that is damaged might have said that its handler is stopped, so it is.
    private func adoptFromRun(wasStopped: Bool) {
        guard let run else { return }
        for (id, device) in run.devices().sound where identities.devices[id] == nil { store(device, as: id) }
        for (id, row) in run.handlers().sound where identities.handlers[id] == nil {
            let row = HandlerRow(name: row.name, isStopped: wasStopped)
            identities.set(id, row)
            disk.perform(.handler(id, row))
        }
        for (id, device) in identities.devices { run.perform(.device(id, device)) }
        for (id, row) in identities.handlers { run.perform(.handler(id, row)) }
    }

    private func tellDamaged(_ devices: Int, _ handlers: Int) {
        disk.tell(
            "the journal \(disk.path) has \(devices) devices and \(handlers) handlers that are not what was written; "
                + "their checkpoints are gone and handlers whose stopped flag is in doubt stay stopped until 'wakebridge start'"
        )
        disk.perform(.clearIdentities)
        for (id, device) in identities.devices { disk.perform(.device(id, device)) }
        for (id, row) in identities.handlers { disk.perform(.handler(id, row)) }
    }

    private func raiseFloor() {
        for store in stores {
            let (handler, device) = store.highestNumbers()
            identities.floor = (max(identities.floor.handler, handler), max(identities.floor.device, device))
        }
    }

    private func isForeign(_ run: EventStore) -> Bool {
        if let ours = start.disk["origin"], let other = start.run["origin"], ours != other { return true }
        return !identities.agrees(with: run)
    }

    private func setAside(_ run: EventStore) {
        let aside = run.setAside()
        run.tell("the journal \(run.path) belongs to another state directory; it was set aside as \(aside)")
        start.run = [:]
    }
}
