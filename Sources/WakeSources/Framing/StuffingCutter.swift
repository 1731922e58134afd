// Messages whose end is a byte that they cannot hold, because it is written in another way in them: SLIP, COBS and HDLC.
import WakeModel

struct StuffingCutter: FrameCutter {
    enum Stuffing: Sendable { case slip, cobs, hdlc }

    private let stuffing: Stuffing
    /// The bytes as they came. They are decoded at the end only, so that undecodable bytes are reported as they came.
    private var open: OpenMessage

    init(_ stuffing: Stuffing, limit: Int, trial: MessageTrial?) {
        self.stuffing = stuffing
        open = OpenMessage(limit: limit, trial: trial)
    }

    var openCount: Int { open.bytes.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        for byte in bytes {
            if byte == stuffing.mark {
                close(into: &frames)
            } else {
                open.bytes.append(byte)
                if open.bytes.count > stuffing.longest(of: open.limit) { open.shed(into: &frames) }
            }
        }
    }

    private mutating func close(into frames: inout [Frame]) {
        guard !open.isTooLong else { return open.close(into: &frames) }
        do {
            let message = try stuffing.decoded(open.bytes)
            guard message.count <= open.limit else { return open.report(.tooLong(limit: open.limit), into: &frames) }
            open.close(message, into: &frames)
        } catch { open.report(error.fault, into: &frames) }
    }

    mutating func end(into frames: inout [Frame]) { open.report(.cutShort, into: &frames) }
}

extension StuffingCutter.Stuffing {
    struct Undecodable: Error { var fault: FramingFault }

    /// The byte that ends a message.
    var mark: UInt8 {
        switch self {
        case .slip: 0xc0
        case .cobs: 0
        case .hdlc: 0x7e
        }
    }

    /// As many bytes as a message of `limit` may take in this writing.
    func longest(of limit: Int) -> Int {
        switch self {
        case .slip, .hdlc: 2 * limit
        case .cobs: limit + limit / 254 + 1
        }
    }

    func decoded(_ bytes: [UInt8]) throws(Undecodable) -> [UInt8] {
        switch self {
        case .slip: try Self.unescaped(bytes)
        case .cobs: try Self.unstuffed(bytes)
        case .hdlc: try Self.unchanged(bytes)
        }
    }

    /// RFC 1055: db dc encodes c0, db dd encodes db.
    private static func unescaped(_ bytes: [UInt8]) throws(Undecodable) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            switch (isEscaped, byte) {
            case (false, 0xdb): isEscaped = true
            case (false, _): message.append(byte)
            case (true, 0xdc), (true, 0xdd):
                message.append(byte == 0xdc ? 0xc0 : 0xdb)
                isEscaped = false
            case (true, _): throw Undecodable(fault: .badEscape(byte))
            }
        }
        // The escape comes before the mark itself.
        if isEscaped { throw Undecodable(fault: .badEscape(0xc0)) }
        return message
    }

    /// RFC 1662: 7d, then the byte with bit 5 the other way round.
    private static func unchanged(_ bytes: [UInt8]) throws(Undecodable) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                if byte == 0x7d { throw Undecodable(fault: .badChange(byte)) }
                message.append(byte ^ 0x20)
                isEscaped = false
            } else if byte == 0x7d {
                isEscaped = true
            } else {
                message.append(byte)
            }
        }
        // The escape comes before the mark itself.
        if isEscaped { throw Undecodable(fault: .badChange(0x7e)) }
        return message
    }

    /// A code, then one byte less than its value; a zero follows if the code is not 255 and this is not the end.
    private static func unstuffed(_ bytes: [UInt8]) throws(Undecodable) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(bytes.count)
        var place = 0
        while place < bytes.count {
            let code = bytes[place]
            let next = place + Int(code)
            guard next <= bytes.count else {
                throw Undecodable(fault: .badCode(code, left: bytes.count - place - 1))
            }
            message.append(contentsOf: bytes[(place + 1)..<next])
            if code < 0xff, next < bytes.count { message.append(0) }
            place = next
        }
        return message
    }
}
