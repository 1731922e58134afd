// A handler's requests to a device: to write and to read, of a peripheral's characteristic or an accessory's stream.
internal import WakeModel

extension BackgroundSession {
    /// Writes to a characteristic, up to 512 bytes.
    /// - Parameter completion: called on the main actor; fails where the device, the daemon or the manifest refuses.
    public func write(
        _ bytes: some Collection<UInt8>, to peripheral: Peripheral, characteristic: Characteristic,
        completion: @escaping (Result<Void, BridgeError>) -> Void = { _ in }
    ) {
        let address = DeviceAddress(peripheral, characteristic)
        ask(.write(address, bytes: Array(bytes))) { completion($0.result.map { _ in }) }
    }

    /// Writes to a characteristic, up to 512 bytes.
    /// - Throws: where the device, the daemon or the manifest refuses.
    public func write(
        _ bytes: some Collection<UInt8>, to peripheral: Peripheral, characteristic: Characteristic
    ) async throws(BridgeError) {
        _ = try await answer(to: .write(DeviceAddress(peripheral, characteristic), bytes: Array(bytes)))
    }

    /// Writes to an accessory's stream.
    /// - Parameter completion: called on the main actor; fails where the device, the daemon or the manifest refuses.
    public func write(
        _ bytes: some Collection<UInt8>, to accessory: Accessory,
        completion: @escaping (Result<Void, BridgeError>) -> Void = { _ in }
    ) {
        ask(.write(DeviceAddress(accessory), bytes: Array(bytes))) { completion($0.result.map { _ in }) }
    }

    /// Writes to an accessory's stream.
    /// - Throws: where the device, the daemon or the manifest refuses.
    public func write(_ bytes: some Collection<UInt8>, to accessory: Accessory) async throws(BridgeError) {
        _ = try await answer(to: .write(DeviceAddress(accessory), bytes: Array(bytes)))
    }

    /// Reads a characteristic. The closure is called on the main actor.
    public func read(
        from peripheral: Peripheral, characteristic: Characteristic,
        completion: @escaping (Result<[UInt8], BridgeError>) -> Void
    ) {
        ask(.read(DeviceAddress(peripheral, characteristic))) { completion($0.result) }
    }

    /// Reads a characteristic.
    /// - Throws: where the device, the daemon or the manifest refuses.
    public func read(
        from peripheral: Peripheral, characteristic: Characteristic
    ) async throws(BridgeError) -> [UInt8] {
        try await answer(to: .read(DeviceAddress(peripheral, characteristic)))
    }

    /// Reads an accessory's stream. The closure is called on the main actor.
    public func read(from accessory: Accessory, completion: @escaping (Result<[UInt8], BridgeError>) -> Void) {
        ask(.read(DeviceAddress(accessory))) { completion($0.result) }
    }

    /// Reads an accessory's stream.
    /// - Throws: where the device, the daemon or the manifest refuses.
    public func read(from accessory: Accessory) async throws(BridgeError) -> [UInt8] {
        try await answer(to: .read(DeviceAddress(accessory)))
    }

    private func answer(to question: Reply) async throws(BridgeError) -> [UInt8] {
        let result = await withCheckedContinuation { waiting in
            ask(question) { waiting.resume(returning: $0.result) }
        }
        return try result.get()
    }
}

extension DeviceAddress {
    fileprivate init(_ peripheral: Peripheral, _ characteristic: Characteristic) {
        self.init(device: peripheral.name, channel: .characteristic(characteristic.channel))
    }

    fileprivate init(_ accessory: Accessory) { self.init(device: accessory.name, channel: nil) }
}
