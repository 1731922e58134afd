// A run of a field program: its place in the bytes, the values it kept, and the JSON written so far.
import WakeModel

struct FieldCursor {
    let bytes: [UInt8]
    private(set) var position = 0
    /// Bits of the byte at `position` that a run of bits has read already.
    private var bit = 0
    /// Where reading ends: that of the bytes, or of the record that is being read.
    private var end: Int
    var slots = FieldProgram.Slots()
    /// Slots whose numbers were read, and not left out.
    private var known: UInt32 = 0
    var json: [UInt8] = []
    /// Where the value begins in `json`.
    let start: Int
    /// The states of lists of objects, the outer and the inner one.
    var loops = (LoopState(), LoopState())
    var recordState = RecordState()
    var outcome = FieldProgram.Outcome.written
    private var surplus: FieldProgram.Surplus
    /// Bytes that were passed over and are to be shown.
    private var leftOver: [UInt8] = []
    var hasLeftOver: Bool { !leftOver.isEmpty }
    /// Fields that have another width are read with it.
    private(set) var isNarrow = false

    struct LoopState {
        var isOpen = false
        /// Elements to read; nil reads to the end.
        var remaining: Int?
        var read = 0
        /// Where the element begins, in the bytes and in `json`.
        var position = 0
        var start = 0
        /// The step after the list.
        var end = 0
        var isShown = false
    }

    /// Owns `json` until the caller moves it back: it is moved, not copied.
    init(bytes: [UInt8], surplus: FieldProgram.Surplus, appendingTo json: inout [UInt8]) {
        self.bytes = bytes
        self.surplus = surplus
        end = bytes.count
        start = json.count
        swap(&self.json, &json)
        self.json.append(UInt8(ascii: "{"))
    }

    /// Begins the message again, for its narrower fields.
    mutating func restart() {
        (position, bit, end) = (0, 0, bytes.count)
        (slots, known, isNarrow) = (FieldProgram.Slots(), 0, true)
        (loops, recordState, leftOver) = ((LoopState(), LoopState()), RecordState(), [])
        json.removeLast(json.count - start - 1)
    }

    var left: Int { end - position }

    mutating func conclude() throws(DecodeFault) {
        if left > 0 { try leaveOver(left) }
        appendLeftOver()
        json.append(UInt8(ascii: "}"))
        if json.count - start > FieldProgram.largestOutput { throw DecodeFault.tooLarge }
    }

    mutating func openField(_ output: FieldProgram.Output?, of program: FieldProgram) {
        guard let output else { return }
        if json[json.count - 1] != UInt8(ascii: "{") { json.append(UInt8(ascii: ",")) }
        json.append(contentsOf: program.keys[output.key])
    }

    /// Reads a number that comes several times, one after the other.
    mutating func readRepeated(
        _ source: FieldProgram.Source, _ step: FieldProgram.Step, of program: FieldProgram
    ) throws(DecodeFault) {
        openField(step.output, of: program)
        if step.output != nil { json.append(UInt8(ascii: "[")) }
        var remaining = try count(of: step.repeats)
        var isFirst = true
        while remaining.map({ $0 > 0 }) ?? (left > 0) {
            if remaining == nil, surplus != .refused, let width = source.width, width > left { break }
            if !isFirst, step.output != nil { json.append(UInt8(ascii: ",")) }
            isFirst = false
            try read(source, step, of: program)
            remaining = remaining.map { $0 - 1 }
        }
        if step.output != nil { json.append(UInt8(ascii: "]")) }
    }

    /// How many there are; nil where they go to the end.
    func count(of repetition: FieldProgram.Repetition) throws(DecodeFault) -> Int? {
        switch repetition {
        case .once: return 1
        case .toEnd: return nil
        case .times(let count): return count
        case .counted(let reference): return try count(in: reference)
        }
    }

    private func count(in reference: FieldProgram.Reference) throws(DecodeFault) -> Int {
        let value = reference.value(in: slots)
        guard value >= 0, value <= Int64(Int32.max) else { throw DecodeFault.badCount(offset: position, count: value) }
        return Int(value)
    }

    /// Reads one value and writes it where the step has an output; its key is written already.
    mutating func read(
        _ source: FieldProgram.Source, _ step: FieldProgram.Step, of program: FieldProgram
    ) throws(DecodeFault) {
        switch source {
        case .integer(let width, let isSigned, let isBigEndian):
            let raw = try unsigned(width, isBigEndian: isBigEndian)
            let unused = 64 - 8 * width
            finish(step, isSigned ? Int64(bitPattern: raw << unused) >> unused : Int64(bitPattern: raw), program)
        case .bits(let reference):
            finish(step, reference.value(in: slots), program)
            if !knows(reference) { forget(step) }
        case .joined(let table):
            let pieces = program.joints[table]
            finish(step, pieces.reduce(0) { $0 << $1.width | $1.part.value(in: slots) }, program)
            if !pieces.allSatisfy({ knows($0.part) }) { forget(step) }
        case .combined(let table): combine(program.combinations[table], step, of: program)
        case .run(let width, let isSigned, let isHighFirst):
            finish(step, try run(of: width, isSigned: isSigned, isHighFirst: isHighFirst), program)
        case .shortFloat(let isBigEndian):
            let raw = try unsigned(2, isBigEndian: isBigEndian)
            write(MedicalFloat(short: UInt16(truncatingIfNeeded: raw)), step, program)
        case .longFloat(let isBigEndian):
            let raw = try unsigned(4, isBigEndian: isBigEndian)
            write(MedicalFloat(long: UInt32(truncatingIfNeeded: raw)), step, program)
        case .binaryFloat(let width, let isBigEndian):
            write(binary: try unsigned(width, isBigEndian: isBigEndian), width, step, program)
        case .text(let extent): try readText(extent, of: program, isShown: step.output != nil)
        case .bytes(let extent): try readBytes(extent, of: program, isShown: step.output != nil)
        case .uuid(let length, let isReversed): try readUUID(length, isReversed, isShown: step.output != nil)
        case .address(let isReversed): try readAddress(isReversed, isShown: step.output != nil)
        case .time(let form, let isBigEndian): try readTime(form, isBigEndian, step.output?.form, program)
        }
    }

    private mutating func advance(_ count: Int) throws(DecodeFault) -> Range<Int> {
        guard count <= left else { throw DecodeFault.tooShort(offset: position, needed: count, found: left) }
        defer { position += count }
        return position..<(position + count)
    }

    mutating func unsigned(_ width: Int, isBigEndian: Bool) throws(DecodeFault) -> UInt64 {
        var value: UInt64 = 0
        let range = try advance(width)
        if isBigEndian {
            for index in range { value = value << 8 | UInt64(bytes[index]) }
        } else {
            for index in range.reversed() { value = value << 8 | UInt64(bytes[index]) }
        }
        return value
    }
}

/// Runs of bits, and the ends of records.
extension FieldCursor {
    private mutating func run(of width: Int, isSigned: Bool, isHighFirst: Bool) throws(DecodeFault) -> Int64 {
        let needed = (bit + width + 7) / 8
        guard needed <= left else { throw DecodeFault.tooShort(offset: position, needed: needed, found: left) }
        var value: UInt64 = 0
        for index in 0..<width {
            let place = bit + index
            let byte = bytes[position + place / 8]
            let digit = UInt64(byte >> (isHighFirst ? 7 - place % 8 : place % 8) & 1)
            value = isHighFirst ? value << 1 | digit : value | digit << index
        }
        position += (bit + width) / 8
        bit = (bit + width) % 8
        let unused = 64 - width
        return isSigned ? Int64(bitPattern: value << unused) >> unused : Int64(bitPattern: value)
    }

    /// The profile does not allow a run that ends within a byte.
    mutating func endRun() throws(DecodeFault) {
        guard bit == 0 else { throw DecodeFault.openRun(offset: position + 1) }
    }

    /// Ends reading `length` bytes from here, and returns the former end.
    mutating func narrow(to length: Int) throws(DecodeFault) -> Int {
        guard length <= left else { throw DecodeFault.tooShort(offset: position, needed: length, found: left) }
        defer { end = position + length }
        return end
    }

    mutating func widen(to end: Int) { self.end = end }

    mutating func skip(_ count: Int) throws(DecodeFault) { _ = try advance(count) }
}

/// Bytes that no field reads.
extension FieldCursor {
    /// A check has shown that the message is the one that its fields are of.
    mutating func vouch() {
        if surplus == .refused { surplus = .kept }
    }

    /// Passes over bytes that are to be shown.
    mutating func leaveOver(_ count: Int) throws(DecodeFault) {
        if surplus == .refused { throw DecodeFault.trailing(count: count) }
        leftOver += bytes[try advance(count)]
    }

    private mutating func appendLeftOver() {
        if surplus == .keptWithoutPadding, leftOver.allSatisfy({ $0 == 0 }) { return }
        guard !leftOver.isEmpty else { return }
        if json[json.count - 1] != UInt8(ascii: "{") { json.append(UInt8(ascii: ",")) }
        json.append(contentsOf: "\"\(FieldProgram.surplusName)\":\"".utf8)
        json.appendHexadecimal(leftOver[...])
        json.append(UInt8(ascii: "\""))
    }

    /// Gives back an element that the end of the bytes has cut, if its list has a whole element. An empty list would
    /// mean that there is none. Returns the step to go on with, or nil if no such list is being read.
    mutating func leaveCutElement(after fault: DecodeFault) -> Int? {
        guard case .tooShort = fault, surplus != .refused, recordState.outerEnd == nil else { return nil }
        for loop in [1, 0] where self[loop].isOpen && self[loop].remaining == nil && self[loop].read > 0 {
            let list = self[loop]
            self[loop].isOpen = false
            (position, bit) = (list.position, 0)
            json.removeLast(json.count - list.start)
            if list.isShown {
                if json.last == UInt8(ascii: ",") { json.removeLast() }
                json.append(UInt8(ascii: "]"))
            }
            return list.end
        }
        return nil
    }
}

/// Numbers for later steps.
extension FieldCursor {
    /// Whether its number was read. An omitted number counts as zero.
    func knows(_ reference: FieldProgram.Reference) -> Bool { known >> UInt32(reference.slot) & 1 == 1 }

    private mutating func keep(_ value: Int64, in slot: Int) {
        slots[slot] = value
        known |= 1 << UInt32(slot)
    }

    private mutating func keep(_ value: Double, in slot: Int) { keep(Int64(bitPattern: value.bitPattern), in: slot) }

    /// Bits of a number that was left out are left out too.
    mutating func forget(_ step: FieldProgram.Step) {
        if let slot = step.slot { known &= ~(1 << UInt32(slot)) }
    }

    /// A field that is left out counts as zero, whatever the element or the record before had there.
    mutating func clear(_ mask: UInt32) {
        known &= ~mask
        var rest = mask
        while rest != 0 {
            slots[rest.trailingZeroBitCount] = 0
            rest &= rest - 1
        }
    }
}

/// Numbers that several make together.
extension FieldCursor {
    /// False where one of them was left out: then the combination is left out too, with its key.
    func hasTerms(of source: FieldProgram.Source, in program: FieldProgram) -> Bool {
        guard case .combined(let table) = source else { return true }
        let slots = program.combinations[table].slots
        return known & slots == slots
    }

    private mutating func combine(_ combination: Combination, _ step: FieldProgram.Step, of program: FieldProgram) {
        let number = combination.rounded(in: slots, of: program)
        if let slot = step.slot { keep(number ?? Combination.none, in: slot) }
        guard step.output != nil else { return }
        guard let number else { return json.appendNull() }
        json.appendShortest(number, pointBefore: combination.scale.decimals)
    }
}

/// Numbers into JSON.
extension FieldCursor {
    private mutating func finish(_ step: FieldProgram.Step, _ value: Int64, _ program: FieldProgram) {
        if let slot = step.slot { keep(value, in: slot) }
        guard let output = step.output else { return }
        switch output.form {
        case .plain: json.appendDecimal(value)
        case .boolean: json.appendBoolean(value != 0)
        case .words(let table): append(value, named: program.words[table])
        case .scaled(let table): json.append(value, program.scales[table])
        case .number(let place): append(value, program.numbers[place], of: program)
        }
    }

    private mutating func append(_ value: Int64, named words: [Int64: [UInt8]]) {
        if let word = words[value] {
            json.append(contentsOf: word)
        } else {
            json.appendDecimal(value)
        }
    }

    private mutating func append(_ raw: Int64, _ form: NumberForm, of program: FieldProgram) {
        if form.nulls.contains(raw) { return json.appendNull() }
        if let word = form.words.flatMap({ program.words[$0][raw] }) { return json.append(contentsOf: word) }
        if form.isBoolean { return json.appendBoolean(raw != 0) }
        if form.isUnsigned64, raw < 0 { return append(large: UInt64(bitPattern: raw), form) }
        var value = raw / form.divide
        if let modulo = form.modulo { value %= modulo }
        if let sign = form.sign, sign.value(in: slots) != 0 { value = 0 &- value }
        guard let scale = form.scale else { return json.appendDecimal(value) }
        json.append(value, scale)
    }

    private mutating func append(large raw: UInt64, _ form: NumberForm) {
        var value = raw / form.divide.magnitude
        if let modulo = form.modulo { value %= modulo.magnitude }
        let isNegative = form.sign.map { $0.value(in: slots) != 0 } ?? false
        if let scale = form.scale {
            if let small = Int64(exactly: value) { return json.append(isNegative ? -small : small, scale) }
            return json.append(isNegative ? -Double(value) : Double(value), scale)
        }
        if isNegative, value > 0 { json.append(UInt8(ascii: "-")) }
        json.appendDecimal(value)
    }

    private mutating func write(_ number: MedicalFloat?, _ step: FieldProgram.Step, _ program: FieldProgram) {
        if let slot = step.slot { keep(number?.value ?? .nan, in: slot) }
        guard let form = step.output?.form else { return }
        guard let number else { return json.appendNull() }
        switch form {
        case .scaled(let table): json.append(number, program.scales[table])
        case .number(let place):
            if let scale = program.numbers[place].scale {
                json.append(number, scale)
            } else {
                json.append(number)
            }
        case .plain, .boolean, .words: json.append(number)
        }
    }

    private mutating func write(
        binary raw: UInt64, _ width: Int, _ step: FieldProgram.Step, _ program: FieldProgram
    ) {
        let single = Float(bitPattern: UInt32(truncatingIfNeeded: raw))
        let double = width == 4 ? Double(single) : Double(bitPattern: raw)
        if let slot = step.slot { keep(double, in: slot) }
        guard let form = step.output?.form else { return }
        switch form {
        case .scaled(let table): json.append(double, program.scales[table])
        case .number(let place):
            if let scale = program.numbers[place].scale {
                json.append(double, scale)
            } else {
                json.appendReal(double, shortest: width == 4 ? single.description : double.description)
            }
        case .plain, .boolean, .words:
            json.appendReal(double, shortest: width == 4 ? single.description : double.description)
        }
    }
}

/// Texts, bytes and values that are written as a text.
extension FieldCursor {
    /// The number of bytes of a text, and of the bytes behind it that only end it.
    private func extent(
        _ extent: FieldProgram.Extent, of program: FieldProgram
    ) throws(DecodeFault) -> (count: Int, mark: Int) {
        switch extent {
        case .toEnd: return (left, 0)
        case .length(let length): return (length, 0)
        case .counted(let reference): return (try count(in: reference), 0)
        case .until(let table):
            let mark = program.endMarks[table]
            var place = position
            while place + mark.count <= end {
                if bytes[place..<(place + mark.count)].elementsEqual(mark) { return (place - position, mark.count) }
                place += 1
            }
            throw DecodeFault.unended(offset: position)
        }
    }

    private mutating func readText(
        _ extent: FieldProgram.Extent, of program: FieldProgram, isShown: Bool
    ) throws(DecodeFault) {
        let (count, mark) = try self.extent(extent, of: program)
        let range = try advance(count)
        position += mark
        var text = bytes[range]
        // Peripherals pad names with zeros or end them with one, as in C.
        while text.last == 0 { text.removeLast() }
        guard let string = self.text(of: text) else { throw DecodeFault.notText(offset: range.lowerBound) }
        if isShown { json.appendJSONString(string.utf8) }
    }

    /// Devices cut names by bytes, also within a character; the text before that is kept.
    private mutating func text(of bytes: ArraySlice<UInt8>) -> String? {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let prefix = bytes.textPrefix
        guard surplus != .refused, !prefix.isEmpty else { return nil }
        leftOver += bytes.dropFirst(prefix.count)
        return String(validating: prefix, as: UTF8.self)
    }

    private mutating func readBytes(
        _ extent: FieldProgram.Extent, of program: FieldProgram, isShown: Bool
    ) throws(DecodeFault) {
        let (count, mark) = try self.extent(extent, of: program)
        let range = try advance(count)
        position += mark
        guard isShown else { return }
        json.append(UInt8(ascii: "\""))
        json.appendHexadecimal(bytes[range])
        json.append(UInt8(ascii: "\""))
    }

    private mutating func readUUID(_ length: Int, _ isReversed: Bool, isShown: Bool) throws(DecodeFault) {
        let range = try advance(length)
        guard isShown else { return }
        let littleEndian = isReversed ? Array(bytes[range]) : bytes[range].reversed()
        json.append(UInt8(ascii: "\""))
        json.append(contentsOf: (BluetoothUUID(littleEndian: littleEndian)?.description ?? "").utf8)
        json.append(UInt8(ascii: "\""))
    }

    private mutating func readAddress(_ isReversed: Bool, isShown: Bool) throws(DecodeFault) {
        let range = try advance(6)
        guard isShown else { return }
        let sent = isReversed ? bytes[range].reversed() : Array(bytes[range])
        let text = sent.map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
        json.appendJSONString(text.utf8)
    }

    private mutating func readTime(
        _ form: TimeForm, _ isBigEndian: Bool, _ output: FieldProgram.Form?, _ program: FieldProgram
    ) throws(DecodeFault) {
        let range = try advance(form.width)
        guard let output else { return }
        var nulls: [Int64] = []
        if case .number(let place) = output { nulls = program.numbers[place].nulls }
        switch form.reading(of: bytes[range], isBigEndian: isBigEndian, nulls: nulls) {
        case .time(let time): json.append(time)
        case .absent: json.appendNull()
        case .impossible: throw DecodeFault.notTime(offset: range.lowerBound)
        }
    }
}
