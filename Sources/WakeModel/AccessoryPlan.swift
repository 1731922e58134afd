// What a profile asks of an accessory: which of its nodes is opened, how the line is set, how its bytes become messages.

/// The node of an accessory that the bridge opens and listens to.
public enum AccessoryNode: String, Hashable, Sendable, CaseIterable {
    /// A terminal line: ttyACM, ttyUSB, ttyAMA, rfcomm.
    case serial
    /// The serial port of a classic Bluetooth device, which bluetoothd connects: no node in /dev.
    case rfcomm
    /// Reports of a HID device, by hidraw.
    case hid
    /// Input events, by evdev.
    case input
    /// Nothing is opened: that it is attached is all there is to know.
    case none
}

/// How a serial line is set when it is opened. What a USB device has no line for is ignored by it.
public struct LineSettings: Hashable, Sendable {
    public enum Parity: String, Hashable, Sendable, CaseIterable { case none, even, odd }
    public enum Flow: String, Hashable, Sendable, CaseIterable {
        case none
        /// RTS and CTS.
        case hardware
        /// XON and XOFF.
        case software
    }
    /// What a modem line is set to at open; `untouched` is what the driver does by itself, which is to raise it.
    public enum ModemLine: String, Hashable, Sendable, CaseIterable { case untouched, high, low }

    /// Bits a second; any number that the driver can make, not the classic ones only.
    public var baud: Int
    /// 5 to 8.
    public var dataBits: Int
    public var parity: Parity
    /// 1 or 2.
    public var stopBits: Int
    public var flow: Flow
    public var dtr: ModemLine
    public var rts: ModemLine

    public init(
        baud: Int = 9_600, dataBits: Int = 8, parity: Parity = .none, stopBits: Int = 1, flow: Flow = .none,
        dtr: ModemLine = .untouched, rts: ModemLine = .untouched
    ) {
        self.baud = baud
        self.dataBits = dataBits
        self.parity = parity
        self.stopBits = stopBits
        self.flow = flow
        self.dtr = dtr
        self.rts = rts
    }
}

/// How a stream of bytes is cut into messages, so that an event is a message and not a read.
public enum Framing: Hashable, Sendable {
    public enum Endian: String, Hashable, Sendable, CaseIterable { case little, big }

    /// Where in a message its length stands.
    public struct LengthPrefix: Hashable, Sendable {
        /// What every message begins with; empty where it begins with what stands before its length.
        public var start: [UInt8]
        /// Bytes from the message's first one to the length.
        public var offset: Int
        /// 1, 2 or 4 bytes.
        public var size: Int
        public var endian: Endian
        /// Bytes of the whole message beyond what the length says: header, checksum.
        public var extra: Int

        public init(start: [UInt8], offset: Int, size: Int, endian: Endian, extra: Int) {
            self.start = start
            self.offset = offset
            self.size = size
            self.endian = endian
            self.extra = extra
        }
    }

    /// What one drain brought is one message.
    case none
    /// A text line, ended by LF or CR LF, which are no part of the message.
    case line
    /// Ended by these bytes, which are no part of the message.
    case delimiter([UInt8])
    case lengthPrefix(LengthPrefix)
    /// So many bytes each.
    case fixed(Int)
    /// Ended by so long a silence.
    case idle(TimeSpan)
    /// RFC 1055; the message comes unescaped.
    case slip
    /// Consistent overhead byte stuffing, messages ended by a zero; they come decoded.
    case cobs
}

public struct AccessoryPlan: Hashable, Sendable {
    public enum Sharing: String, Hashable, Sendable, CaseIterable {
        /// Nobody else can open it (TIOCEXCL), or hears of it (EVIOCGRAB), while the bridge has it.
        case exclusive
        case shared
    }
    public enum OnSuspend: String, Hashable, Sendable, CaseIterable {
        /// The node stays open, and what comes wakes a handler.
        case keep
        /// The node is let go while no handler is awake for it, so that other software may have it.
        case detach
    }

    public var node: AccessoryNode
    public var line: LineSettings
    public var framing: Framing
    /// Longest message in bytes; what is longer comes in pieces.
    public var frameLimit: Int
    public var sharing: Sharing
    public var onSuspend: OnSuspend
    /// It must stay attached for so long before anybody hears of it.
    public var settle: TimeSpan
    /// Back within so long, it was never away.
    public var replugGrace: TimeSpan

    public init(
        node: AccessoryNode, line: LineSettings = LineSettings(), framing: Framing = .none, frameLimit: Int = 4_096,
        sharing: Sharing = .exclusive, onSuspend: OnSuspend = .keep, settle: TimeSpan = .seconds(1),
        replugGrace: TimeSpan = .seconds(2)
    ) {
        self.node = node
        self.line = line
        self.framing = framing
        self.frameLimit = frameLimit
        self.sharing = sharing
        self.onSuspend = onSuspend
        self.settle = settle
        self.replugGrace = replugGrace
    }
}
