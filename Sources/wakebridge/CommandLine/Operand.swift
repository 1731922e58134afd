// The meaning of each word on a command line, so that completion offers the same in every shell.
import WakeArguments

indirect enum Operand: Hashable {
    case handler
    /// A device that the daemon knows.
    case device
    /// The same, and what bluetoothd keeps.
    case keptDevice
    /// A job or an alarm of the handler that the word before names.
    case job
    case alarm
    /// A word for something that jobs wait for.
    case condition
    case profile
    case adapter
    case file
    case directory
    case user
    case group
    case verb
    /// Any of these words, and the operands that follow each.
    case word([Choice])
    /// As many of a kind as you like.
    case several(Operand)
    /// Only you know it: a name, a number.
    case free

    struct Choice: Hashable {
        let word: String
        var then: [Operand] = []
    }

    static func words(_ words: String..., then operands: Operand...) -> Operand {
        .word(words.map { Choice(word: $0, then: operands) })
    }

    /// Joins several lists of words, each with its own operands.
    static func either(_ lists: Operand...) -> Operand {
        .word(
            lists.flatMap { list -> [Choice] in
                if case .word(let choices) = list { choices } else { [] }
            })
    }
}

extension Flag {
    /// The kind of its value, by the placeholder that the help shows; nil for a flag without a value, and for an
    /// unknown placeholder.
    var operand: Operand? {
        switch value {
        case "HANDLER": .handler
        case "DEVICE": .device
        case "PROFILE": .profile
        case "ADDRESS": .adapter
        case "FILE", "PATH": .file
        case "DIR": .directory
        case "USER": .user
        case "GROUP": .group
        case "TIME": .words("60s", "5m", "1h")
        case "FACTOR": .words("1", "2", "10", "max")
        case "LEVEL": .words("low", "critical")
        case "LANGUAGE": .words("shell", "python", "swift")
        case "TEMPLATE": .words("csv", "sqlite", "alert", "http")
        case "WHEN": .words("auto", "always", "never")
        case "ROLE": .words("read", "operate", "pair")
        case "FORM": .words("btsnoop", "pcapng", "csv", "ndjson")
        case "URGENCY": .words("very-low", "low", "normal", "high")
        case "NAME", "N", "LINES", "TEXT", "SECONDS", "TYPE", "ADDRESS:PORT", "RATE", "TRANSFER": .free
        default: nil
        }
    }
}
