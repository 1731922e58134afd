// One run of a field program: its place in the bytes, the values it kept, and the JSON written so far.
import WakeModel

struct FieldCursor {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var slots = FieldProgram.Slots()
    var json: [UInt8] = []
    /// The offset of the first field.
    private let firstField: Int

    /// Owns `json` until the caller moves it back: it is moved, not copied.
    init(bytes: [UInt8], appendingTo json: inout [UInt8]) {
        self.bytes = bytes
        firstField = json.count + 1
        swap(&self.json, &json)
        self.json.append(UInt8(ascii: "{"))
    }

    var left: Int { bytes.count - position }

    mutating func openField(_ output: FieldProgram.Output?, of program: FieldProgram) {
        guard let output else { return }
        if json.count > firstField { json.append(UInt8(ascii: ",")) }
        json.append(contentsOf: program.keys[output.key])
    }

    /// Reads the repeated tail, element after element, until no bytes are left.
    mutating func readRepeated(_ step: FieldProgram.Step, of program: FieldProgram) throws(DecodeFault) {
        openField(step.output, of: program)
        if step.output != nil { json.append(UInt8(ascii: "[")) }
        var isFirst = true
        while left > 0 {
            if !isFirst, step.output != nil { json.append(UInt8(ascii: ",")) }
            isFirst = false
            try read(step, of: program)
        }
        if step.output != nil { json.append(UInt8(ascii: "]")) }
    }

    /// Reads one value and writes it where the step has an output; its key is written already.
    mutating func read(_ step: FieldProgram.Step, of program: FieldProgram) throws(DecodeFault) {
        switch step.source {
        case .integer(let width, let isSigned, let isBigEndian):
            let raw = try unsigned(width, isBigEndian: isBigEndian)
            let unused = 64 - 8 * width
            finish(step, isSigned ? Int64(bitPattern: raw << unused) >> unused : Int64(bitPattern: raw), program)
        case .bits(let slot, let shift, let mask):
            finish(step, slots[slot] >> shift & mask, program)
        case .shortFloat(let isBigEndian):
            let raw = try unsigned(2, isBigEndian: isBigEndian)
            write(MedicalFloat(short: UInt16(truncatingIfNeeded: raw)), step.output?.form)
        case .longFloat(let isBigEndian):
            let raw = try unsigned(4, isBigEndian: isBigEndian)
            write(MedicalFloat(long: UInt32(truncatingIfNeeded: raw)), step.output?.form)
        case .text(let length): try readText(length ?? left, isShown: step.output != nil)
        case .bytes(let length): try readBytes(length ?? left, isShown: step.output != nil)
        }
    }

    private mutating func advance(_ count: Int) throws(DecodeFault) -> Range<Int> {
        guard count <= left else { throw DecodeFault.tooShort(offset: position, needed: count, found: left) }
        defer { position += count }
        return position..<(position + count)
    }

    private mutating func unsigned(_ width: Int, isBigEndian: Bool) throws(DecodeFault) -> UInt64 {
        var value: UInt64 = 0
        let range = try advance(width)
        if isBigEndian {
            for index in range { value = value << 8 | UInt64(bytes[index]) }
        } else {
            for index in range.reversed() { value = value << 8 | UInt64(bytes[index]) }
        }
        return value
    }

    private mutating func finish(_ step: FieldProgram.Step, _ value: Int64, _ program: FieldProgram) {
        if let slot = step.slot { slots[slot] = value }
        guard let output = step.output else { return }
        switch output.form {
        case .plain: json.appendDecimal(value)
        case .boolean: json.append(contentsOf: value != 0 ? "true".utf8 : "false".utf8)
        case .words(let table):
            if let word = program.words[table][value] {
                json.append(contentsOf: word)
            } else {
                json.appendDecimal(value)
            }
        case .scaled(let numerator, let denominator, let decimals, let power):
            appendRounded(Double(value) * numerator / denominator, decimals: decimals, power: power)
        }
    }

    private mutating func write(_ number: MedicalFloat?, _ form: FieldProgram.Form?) {
        guard let form else { return }
        guard let number else {
            json.append(contentsOf: "null".utf8)
            return
        }
        if case .scaled(let numerator, let denominator, let decimals, let power) = form {
            appendRounded(number.value * numerator / denominator, decimals: decimals, power: power)
        } else {
            json.append(number)
        }
    }

    private mutating func appendRounded(_ value: Double, decimals: Int, power: Double) {
        let shifted = (value * power).rounded()
        if shifted.magnitude < 9e15 {
            json.appendShortest(Int64(shifted), pointBefore: decimals)
        } else {
            // Above the whole numbers that a Double holds exactly there are no decimals to round.
            json.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        }
    }

    private mutating func readText(_ length: Int, isShown: Bool) throws(DecodeFault) {
        let range = try advance(length)
        var text = bytes[range]
        // Peripherals pad names with zeros or end them with one, as in C.
        while text.last == 0 { text.removeLast() }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw DecodeFault.notText(offset: range.lowerBound)
        }
        if isShown { json.appendJSONString(string.utf8) }
    }

    private mutating func readBytes(_ length: Int, isShown: Bool) throws(DecodeFault) {
        let range = try advance(length)
        guard isShown else { return }
        json.append(UInt8(ascii: "\""))
        json.appendHexadecimal(bytes[range])
        json.append(UInt8(ascii: "\""))
    }
}
