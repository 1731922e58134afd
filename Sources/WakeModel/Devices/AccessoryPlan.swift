// How a profile treats an accessory: which node is opened, how the line is set, how bytes become messages.

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
    /// The device is not opened: only attaching and detaching are reported.
    case none
}

/// How a serial line is set when it is opened. A USB device ignores settings that it has no line for.
public struct LineSettings: Hashable, Sendable {
    public enum Parity: String, Hashable, Sendable, CaseIterable { case none, even, odd }
    public enum Flow: String, Hashable, Sendable, CaseIterable {
        case none
        /// RTS and CTS.
        case hardware
        /// XON and XOFF.
        case software
    }
    /// The state of a modem line at open; `untouched` leaves it to the driver, which raises it.
    public enum ModemLine: String, Hashable, Sendable, CaseIterable { case untouched, high, low }

    /// Bits a second: any number that the driver supports, not only the classic ones.
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

    /// Where a message holds its length.
    public struct LengthPrefix: Hashable, Sendable {
        /// The bytes that every message begins with; empty where only the bytes before the length come first.
        public var start: [UInt8]
        /// The offset of the length from the message's first byte.
        public var offset: Int
        /// 1, 2 or 4 bytes.
        public var size: Int
        public var endian: Endian
        /// The bytes of a message that its length does not count: header, checksum.
        public var extra: Int

        public init(start: [UInt8], offset: Int, size: Int, endian: Endian, extra: Int) {
            self.start = start
            self.offset = offset
            self.size = size
            self.endian = endian
            self.extra = extra
        }
    }

    /// How messages that begin with a mark go on.
    public struct Marked: Hashable, Sendable {
        public enum Rest: Hashable, Sendable {
            /// Up to a line end, which is not part of the message.
            case line
            /// Up to these bytes. With a tail they are part of the message, and so many bytes after them.
            case delimiter([UInt8], tail: Int?)
            case fixed(Int)
            /// Up to the length that the message contains.
            case length(LengthPrefix)
        }

        /// Part of the message; empty where any byte begins one.
        public var start: [UInt8]
        public var rest: Rest
        /// The longest message of this form in bytes; nil: as of the framing.
        public var limit: Int?
        /// It also comes within lines of another form, which go on behind it. It has a start.
        public var interrupts: Bool

        public init(start: [UInt8], rest: Rest, limit: Int? = nil, interrupts: Bool = false) {
            self.start = start
            self.rest = rest
            self.limit = limit
            self.interrupts = interrupts
        }
    }

    /// The bytes of one drain are one message.
    case none
    /// A text line; the LF or CR LF that ends it is not part of the message.
    case line
    /// Ended by these bytes, which are not part of the message.
    case delimiter([UInt8])
    case lengthPrefix(LengthPrefix)
    /// Messages of this many bytes.
    case fixed(Int)
    /// Ended by a silence of this length.
    case idle(TimeSpan)
    /// SLIP, RFC 1055; messages are unescaped.
    case slip
    /// Consistent overhead byte stuffing, messages ended by a zero; messages are decoded.
    case cobs
    /// RFC 1662 without its header: ended by 7e, and 7d before a byte that is changed; messages are unescaped.
    case hdlc
    /// The first mark that comes begins a message; bytes before it belong to none.
    case marked([Marked])
}

public struct AccessoryPlan: Hashable, Sendable {
    public enum Sharing: String, Hashable, Sendable, CaseIterable {
        /// No other program can open it (TIOCEXCL), or gets its events (EVIOCGRAB), while the bridge has it.
        case exclusive
        case shared
    }
    public enum OnSuspend: String, Hashable, Sendable, CaseIterable {
        /// The node stays open, and what comes wakes a handler.
        case keep
        /// The node is released while no handler is awake for it, so that other software can use it.
        case detach
    }

    public var node: AccessoryNode
    public var line: LineSettings
    public var framing: Framing
    /// The longest message in bytes; a longer one comes in pieces.
    public var frameLimit: Int
    /// Finds damaged messages of the line; nil if its profile knows no check.
    public var trial: MessageTrial?
    public var sharing: Sharing
    public var onSuspend: OnSuspend
    /// How long it must stay attached before it is announced.
    public var settle: TimeSpan
    /// An absence shorter than this is not announced.
    public var replugGrace: TimeSpan
    /// For a device that types: the silence that ends a line, if Enter does not. Nil where each batch is a message.
    public var typingPause: TimeSpan?
    /// Whether its reports cannot be read without the device's own report descriptor.
    public var needsReportDescriptor = false
    public var ask: AskPlan

    public init(
        node: AccessoryNode, line: LineSettings = LineSettings(), framing: Framing = .none, frameLimit: Int = 4_096,
        sharing: Sharing = .exclusive, onSuspend: OnSuspend = .keep, settle: TimeSpan = .seconds(1),
        replugGrace: TimeSpan = .seconds(2), typingPause: TimeSpan? = nil, ask: AskPlan = AskPlan()
    ) {
        self.node = node
        self.line = line
        self.framing = framing
        self.frameLimit = frameLimit
        self.sharing = sharing
        self.onSuspend = onSuspend
        self.settle = settle
        self.replugGrace = replugGrace
        self.typingPause = typingPause
        self.ask = ask
    }
}
