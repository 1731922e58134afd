// Devices and handlers by number: given once, for as long as the journal lives, and kept in both databases.
import Glibc
import WakeModel

struct Identities {
    var devices: [DeviceID: Device] = [:]
    var deviceIDs: [String: DeviceID] = [:]
    var handlers: [HandlerID: String] = [:]
    var handlerIDs: [String: HandlerID] = [:]
    var stopped: Set<HandlerID> = []
    var checkpoints: [HandlerID: String] = [:]

    mutating func add(_ id: DeviceID, _ device: Device) { (devices[id], deviceIDs[device.source]) = (device, id) }
    mutating func add(_ id: HandlerID, _ name: String) { (handlers[id], handlerIDs[name]) = (name, id) }

    /// Every number both know means the same to both.
    func agrees(with store: EventStore) -> Bool {
        store.devices().allSatisfy { id, device in
            (devices[id].map { $0.source == device.source } ?? true) && (deviceIDs[device.source] ?? id) == id
        }
            && store.handlers().allSatisfy {
                (handlers[$0.id] ?? $0.name) == $0.name && (handlerIDs[$0.name] ?? $0.id) == $0.id
            }
    }
}

extension Journal {
    /// The device's number; a new alias or profile of a known source is written down.
    public func deviceID(for device: Device) -> DeviceID {
        if let id = identities.deviceIDs[device.source] {
            if identities.devices[id] != device { store(device, as: id) }
            return id
        }
        let id = DeviceID(rawValue: (identities.devices.keys.max()?.rawValue ?? 0) + 1)
        store(device, as: id)
        return id
    }

    public func device(_ id: DeviceID) -> Device? { identities.devices[id] }

    public func devices() -> [(DeviceID, Device)] {
        identities.devices.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    public func handlerID(named name: String) -> HandlerID {
        if let id = identities.handlerIDs[name] { return id }
        let id = HandlerID(rawValue: (identities.handlers.keys.max()?.rawValue ?? 0) + 1)
        identities.add(id, name)
        for store in stores { store.perform(.handler(id, name)) }
        return id
    }

    public func handlerName(of id: HandlerID) -> String? { identities.handlers[id] }

    private func store(_ device: Device, as id: DeviceID) {
        identities.add(id, device)
        for store in stores { store.perform(.device(id, device)) }
    }

    func agrees(_ store: EventStore) -> Bool { identities.agrees(with: store) }

    /// The disk's identities count; those of the run database restore a disk database that was lost.
    func adoptIdentities() {
        for (id, device) in disk.devices() { identities.add(id, device) }
        for handler in disk.handlers() {
            identities.add(handler.id, handler.name)
            identities.checkpoints[handler.id] = handler.checkpoint
            if handler.isStopped { identities.stopped.insert(handler.id) }
        }
        guard let run else { return }
        guard identities.agrees(with: run) else { return refuse(run) }
        for (id, device) in run.devices() where identities.devices[id] == nil { store(device, as: id) }
        for handler in run.handlers() where identities.handlers[handler.id] == nil {
            identities.add(handler.id, handler.name)
            disk.perform(.handler(handler.id, handler.name))
        }
        for (id, device) in identities.devices { run.perform(.device(id, device)) }
        for (id, name) in identities.handlers { run.perform(.handler(id, name)) }
    }

    private func refuse(_ run: EventStore) {
        run.database = nil
        let aside = Opening.setAside(run.path)
        try? run.reopen()
        start.foreignRun = "the journal \(run.path) belongs to another state directory; it was set aside as \(aside)"
        start.runSurvived = false
    }

    /// Grows with every new disk database; a small file beside it remembers the number when the database is lost.
    func numberJournal() -> String {
        guard let directory = settings.stateDirectory else { return "j\(time(nil))" }
        if let id = start.journal, disk.lastLoss == nil { return id }
        let memory = directory + "/journal.number"
        let known = [start.journal, start.runJournal, readLine(of: memory)].compactMap {
            $0.flatMap { Int($0.dropFirst()) }
        }
        let id = "j\((known.max() ?? 0) + 1)"
        writeLine(id, to: memory)
        disk.perform(.fact("journal", id))
        return id
    }
}

private func readLine(of path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = fread(&bytes, 1, 32, file)
    return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// A failure is no loss: the number also stands in both databases.
private func writeLine(_ text: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array((text + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
    fsync(descriptor)
    close(descriptor)
}
