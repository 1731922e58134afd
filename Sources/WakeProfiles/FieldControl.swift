// Groups, variants and records in a run: each step leads to another by its place, and none calls a run of its own.
import WakeModel

/// How tags and values follow each other.
struct RecordTable: Hashable, Sendable {
    struct Number: Hashable, Sendable {
        var width: Int
        var isBigEndian: Bool
    }

    var tag: Number
    /// Nil if a tag's fields give the length of its value.
    var length: Number?
    var skipsUnknown: Bool
    /// The first step of each tag.
    var starts: [Int64: Int] = [:]
    /// The step after the records.
    var end = 0
    /// Slots of the tags' fields.
    var clearing: UInt32 = 0
}

/// The records that are being read.
struct RecordState {
    var count = 0
    /// Where their members begin in the JSON.
    var start = 0
    /// The end of reading after the record; nil if its own fields decide.
    var outerEnd: Int?
}

extension FieldCursor {
    /// Performs a step of control, and returns the step to go on with.
    mutating func follow(
        _ control: FieldProgram.Control, at place: Int, of program: FieldProgram
    ) throws(DecodeFault) -> Int {
        switch control {
        case .beginObject(let clearing):
            clear(clearing)
            openField(program.steps[place].output, of: program)
            if program.steps[place].output != nil { json.append(UInt8(ascii: "{")) }
        case .endObject(let isShown): if isShown { json.append(UInt8(ascii: "}")) }
        case .beginList(let loop, let end): return try beginList(loop, at: place, end, of: program)
        case .beginItem(let clearing, let isShown):
            clear(clearing)
            if isShown { json.append(UInt8(ascii: "{")) }
        case .endItem(let loop, let start, let isShown):
            return try endItem(loop, isShown) ? start : place + 1
        case .variant(let pattern, let clearing, let otherwise):
            guard program.patterns[pattern].fits(rest) else { return otherwise }
            clear(clearing)
        case .goOn(let next): return next
        case .noVariant: throw DecodeFault.noVariant(offset: position)
        case .beginRecords: recordState = RecordState(start: json.count)
        case .record(let table): return try beginRecord(program.records[table], at: place)
        case .endRecord(let start):
            try endRecord()
            return start
        case .endRecords: json.mergeMembers(from: recordState.start)
        case .endRun: try endRun()
        case .check(let check):
            widen(to: try program.checks[check].verifiedEnd(of: rest))
            vouch()
        case .text(let text):
            try program.texts[text].run(over: rest, of: program, into: &json)
            try skip(left)
        case .handOver(let name):
            outcome = .handedOver(name, from: position, to: position + left)
            try skip(left)
        }
        return place + 1
    }

    private var rest: ArraySlice<UInt8> { bytes[position..<(position + left)] }
}

/// Lists of objects.
extension FieldCursor {
    subscript(loop: Int) -> LoopState {
        get { loop == 0 ? loops.0 : loops.1 }
        set { if loop == 0 { loops.0 = newValue } else { loops.1 = newValue } }
    }

    private mutating func beginList(
        _ loop: Int, at place: Int, _ end: Int, of program: FieldProgram
    ) throws(DecodeFault) -> Int {
        let step = program.steps[place]
        let count = try count(of: step.repeats)
        if let count, count > FieldProgram.mostElements {
            throw DecodeFault.badCount(offset: position, count: Int64(count))
        }
        openField(step.output, of: program)
        if step.output != nil { json.append(UInt8(ascii: "[")) }
        self[loop] = LoopState(
            isOpen: count.map { $0 > 0 } ?? (left > 0), remaining: count, position: position, start: json.count,
            end: end,
            isShown: step.output != nil)
        if self[loop].isOpen { return place + 1 }
        if step.output != nil { json.append(UInt8(ascii: "]")) }
        return end
    }

    /// Whether another element follows.
    private mutating func endItem(_ loop: Int, _ isShown: Bool) throws(DecodeFault) -> Bool {
        self[loop].read += 1
        self[loop].remaining = self[loop].remaining.map { $0 - 1 }
        let isMore = self[loop].remaining.map { $0 > 0 } ?? (left > 0)
        let isStuck = self[loop].remaining == nil && position == self[loop].position
        if isMore, isStuck || self[loop].read == FieldProgram.mostElements {
            throw DecodeFault.badCount(offset: position, count: Int64(self[loop].read + 1))
        }
        try refuseTooLarge()
        if isShown { json.append(contentsOf: isMore ? "},".utf8 : "}]".utf8) }
        (self[loop].isOpen, self[loop].position, self[loop].start) = (isMore, position, json.count)
        return isMore
    }

    private func refuseTooLarge() throws(DecodeFault) {
        if json.count - start > FieldProgram.largestOutput { throw DecodeFault.tooLarge }
    }
}

/// Tags and values.
extension FieldCursor {
    private mutating func beginRecord(_ table: RecordTable, at place: Int) throws(DecodeFault) -> Int {
        guard left > 0 else { return table.end }
        recordState.count += 1
        if recordState.count > FieldProgram.mostElements {
            throw DecodeFault.badCount(offset: position, count: Int64(recordState.count))
        }
        let tag = Int64(bitPattern: try unsigned(table.tag.width, isBigEndian: table.tag.isBigEndian))
        var length: Int?
        if let form = table.length {
            length = Int(truncatingIfNeeded: try unsigned(form.width, isBigEndian: form.isBigEndian))
        }
        guard let start = table.starts[tag] else {
            // Without a length the place of the next record is unknown.
            try skip(table.skipsUnknown ? length ?? left : left)
            return place
        }
        recordState.outerEnd = nil
        if let length { recordState.outerEnd = try narrow(to: length) }
        clear(table.clearing)
        return start
    }

    private mutating func endRecord() throws(DecodeFault) {
        try refuseTooLarge()
        guard let outerEnd = recordState.outerEnd else { return }
        if left > 0 { try leaveOver(left) }
        widen(to: outerEnd)
        recordState.outerEnd = nil
    }
}

extension [UInt8] {
    /// Makes one list of the values of a key that comes more than once among the members that begin here. The text was
    /// written by a run, so it is read without doubting it.
    mutating func mergeMembers(from start: Int) {
        var (keys, values): ([ArraySlice<UInt8>], [[ArraySlice<UInt8>]]) = ([], [])
        var isMerged = false
        for (key, value) in members(from: start) {
            if let place = keys.firstIndex(where: { $0.elementsEqual(key) }) {
                values[place].append(value)
                isMerged = true
            } else {
                keys.append(key)
                values.append([value])
            }
        }
        guard isMerged else { return }
        var text: [UInt8] = []
        for (key, list) in zip(keys, values) {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: key)
            text.append(UInt8(ascii: ":"))
            text.append(contentsOf: list.count > 1 ? "[".utf8 : "".utf8)
            text.append(contentsOf: list.joined(separator: CollectionOfOne(UInt8(ascii: ","))))
            text.append(contentsOf: list.count > 1 ? "]".utf8 : "".utf8)
        }
        replaceSubrange(start..., with: text)
    }

    private func members(from start: Int) -> [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        var found: [(ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
        var (begin, colon): (Int, Int?) = (start, nil)
        var (depth, isText, isEscaped) = (0, false, false)
        func close(at place: Int) {
            if let end = colon { found.append((self[begin..<end], self[(end + 1)..<place])) }
        }
        for place in start..<count {
            switch self[place] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isText: isEscaped = true
            case UInt8(ascii: "\""): isText.toggle()
            case _ where isText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 0: colon = colon ?? place
            case UInt8(ascii: ",") where depth == 0:
                close(at: place)
                (begin, colon) = (place + 1, nil)
            default: break
            }
        }
        close(at: count)
        return found
    }
}
