// The callbacks that a handler's author writes for devices: one protocol for peripherals, and one for accessories.

/// A handler's callbacks for Bluetooth LE peripherals. All run on the main actor, one at a time. All have a default.
@MainActor
public protocol PeripheralDelegate: BackgroundSessionDelegate {
    /// The peripheral is ready for use.
    func peripheralDidConnect(
        _ peripheral: Peripheral, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The peripheral is gone.
    func peripheralDidDisconnect(
        _ peripheral: Peripheral, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The peripheral sent bytes.
    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult
    /// Events of the peripheral were lost.
    func peripheral(
        _ peripheral: Peripheral, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The peripheral needs an operator; `detail` is a sentence or a command.
    func peripheral(
        _ peripheral: Peripheral, needsAttention kind: AttentionKind, detail: String?, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult
}

extension PeripheralDelegate {
    public func peripheralDidConnect(
        _ peripheral: Peripheral, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func peripheralDidDisconnect(
        _ peripheral: Peripheral, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func peripheral(
        _ peripheral: Peripheral, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func peripheral(
        _ peripheral: Peripheral, needsAttention kind: AttentionKind, detail: String?, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { .nothing }

    func call(
        _ peripheral: Peripheral, _ happened: PeripheralEvent, _ event: BackgroundEvent, _ session: BackgroundSession
    ) -> WorkResult {
        switch happened {
        case .connected: peripheralDidConnect(peripheral, for: event, in: session)
        case .disconnected(let reason, _):
            peripheralDidDisconnect(peripheral, reason: reason, for: event, in: session)
        case .data(let data): self.peripheral(peripheral, didSend: data, for: event, in: session)
        case .gap(let gap): self.peripheral(peripheral, didLose: gap, for: event, in: session)
        case .attention(let kind, let detail):
            self.peripheral(peripheral, needsAttention: kind, detail: detail, for: event, in: session)
        }
    }
}

/// A handler's callbacks for accessories. All run on the main actor, one at a time. All have a default.
@MainActor
public protocol AccessoryDelegate: BackgroundSessionDelegate {
    /// The accessory is ready for use.
    func accessoryDidConnect(
        _ accessory: Accessory, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The accessory is gone.
    func accessoryDidDisconnect(
        _ accessory: Accessory, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The accessory sent bytes.
    func accessory(
        _ accessory: Accessory, didSend data: AccessoryData, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// Events of the accessory were lost.
    func accessory(
        _ accessory: Accessory, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult
    /// The accessory needs an operator; `detail` is a sentence or a command.
    func accessory(
        _ accessory: Accessory, needsAttention kind: AttentionKind, detail: String?, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult
}

extension AccessoryDelegate {
    public func accessoryDidConnect(
        _ accessory: Accessory, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessoryDidDisconnect(
        _ accessory: Accessory, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ accessory: Accessory, didSend data: AccessoryData, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ accessory: Accessory, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult { .nothing }
    public func accessory(
        _ accessory: Accessory, needsAttention kind: AttentionKind, detail: String?, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult { .nothing }

    func call(
        _ accessory: Accessory, _ happened: AccessoryEvent, _ event: BackgroundEvent, _ session: BackgroundSession
    ) -> WorkResult {
        switch happened {
        case .connected: accessoryDidConnect(accessory, for: event, in: session)
        case .disconnected(let reason, _):
            accessoryDidDisconnect(accessory, reason: reason, for: event, in: session)
        case .data(let data): self.accessory(accessory, didSend: data, for: event, in: session)
        case .gap(let gap): self.accessory(accessory, didLose: gap, for: event, in: session)
        case .attention(let kind, let detail):
            self.accessory(accessory, needsAttention: kind, detail: detail, for: event, in: session)
        }
    }
}
