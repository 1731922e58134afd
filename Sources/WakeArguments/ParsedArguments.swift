// The command line as getopt_long parses it: the edge to the C library's parser, whose state is global.
import CGetopt
import Glibc
import WakeModel

/// A verb's options and operands.
public struct ParsedArguments {
    /// In the order given; of equal names the later one counts.
    public private(set) var options: [(name: String, value: String?)] = []
    public private(set) var operands: [String] = []
    /// The words after `--`; nil where there is none.
    public private(set) var trailing: [String]?

    /// `stopsAtOperand` leaves everything from the first operand on unparsed.
    public init(_ words: [String], options flags: [Flag], stopsAtOperand: Bool = false) throws(Complaint) {
        let cut = stopsAtOperand ? nil : words.firstIndex(of: "--")
        trailing = cut.map { Array(words[($0 + 1)...]) }
        try parse(Array(words[..<(cut ?? words.count)]), flags, stopsAtOperand)
    }

    public func has(_ name: String) -> Bool { options.contains { $0.name == name } }
    public func value(_ name: String) -> String? { options.last { $0.name == name }?.value }

    /// The same, with the options before the verb added; options after the verb override them.
    public func adding(_ earlier: ParsedArguments) -> ParsedArguments {
        var both = self
        both.options = earlier.options + options
        return both
    }

    private mutating func parse(_ words: [String], _ flags: [Flag], _ stopsAtOperand: Bool) throws(Complaint) {
        // getopt_long reorders its arguments and keeps pointers into them, so it gets copies.
        var vector: [UnsafeMutablePointer<CChar>?] = (["wakebridge"] + words).map { strdup($0) } + [nil]
        let names = flags.map { strdup($0.name) }
        let texts = vector + names
        defer { for text in texts { free(text) } }
        let table = zip(flags, names).enumerated().map { index, pair in
            option(name: pair.1, has_arg: pair.0.argument, flag: nil, val: Int32(256 + index))
        }
        let end = try read(&vector, count: words.count + 1, flags, table + [option()], stopsAtOperand)
        operands = vector[end..<(words.count + 1)].compactMap { $0.map { String(cString: $0) } }
    }

    /// Returns the index of the first operand.
    private mutating func read(
        _ vector: inout [UnsafeMutablePointer<CChar>?], count: Int, _ flags: [Flag], _ table: [option],
        _ stopsAtOperand: Bool
    ) throws(Complaint) -> Int {
        let letters = flags.compactMap { flag in flag.short.map { "\($0)" + (flag.value == nil ? "" : ":") } }
        let grammar = (stopsAtOperand ? "+:" : ":") + letters.joined()
        var isFirst = true
        while true {
            let option = wake_next_option(Int32(count), &vector, grammar, table, isFirst)
            isFirst = false
            if option.found == -1 { return Int(option.next) }
            guard let flag = flags.enumerated().first(where: { $1.matches(option.found, index: $0) })?.element else {
                let word = vector[Int(max(option.next - 1, 0))].map { String(cString: $0) } ?? ""
                throw ParsedArguments.complaint(option, word, flags)
            }
            options.append((flag.name, option.value.map { String(cString: $0) }))
        }
    }

    private static func complaint(_ option: wake_option, _ word: String, _ flags: [Flag]) -> Complaint {
        let culprit = option.culprit
        let known = culprit >= 256 ? flags[Int(culprit) - 256] : nil
        let letter = (1..<128).contains(culprit) ? "-\(Character(UnicodeScalar(UInt8(culprit))))" : nil
        if option.found == Int32(UInt8(ascii: ":")) {
            return .usage("the option \(known.map { "--\($0.name)" } ?? letter ?? word) needs a value")
        }
        if let known { return .usage("the option --\(known.name) takes no value") }
        if let letter { return .usage("there is no option \(letter)") }
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let near = nearestNames(to: name, among: flags.map(\.name)).map { "--\($0)" }
        if near.count > 1 { return .usage("it is not clear what --\(name) means: \(near.joined(separator: " or "))") }
        return .usage("there is no option --\(name)." + (near.first.map { " Did you mean \($0)?" } ?? ""))
    }
}

extension Flag {
    /// As getopt_long counts: none, required or optional.
    fileprivate var argument: Int32 { value == nil ? 0 : isValueOptional ? 2 : 1 }

    fileprivate func matches(_ found: Int32, index: Int) -> Bool {
        found == Int32(256 + index) || short.flatMap(\.asciiValue).map { Int32($0) == found } ?? false
    }
}

extension ParsedArguments {
    /// The single operand that a verb requires.
    public func only(_ what: String) throws(Complaint) -> String {
        guard let first = operands.first else { throw .usage("a \(what) must be named") }
        try atMost(1)
        return first
    }

    /// The single operand that a verb accepts.
    public func optional() throws(Complaint) -> String? {
        try atMost(1)
        return operands.first
    }

    public func atMost(_ count: Int, takesProgram: Bool = false) throws(Complaint) {
        if operands.count > count { throw .usage("'\(operands[count])' is one word too many") }
        if !takesProgram, let word = trailing?.first { throw .usage("'-- \(word)' has no meaning here") }
    }

    /// A whole number in `range`; nil where the option is absent.
    public func number(_ name: String, in range: ClosedRange<Int>) throws(Complaint) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .usage("--\(name) '\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
