// A pairing as a dialogue of programs: steps, questions and the result as JSON lines, and answers as such lines.
import WakeArguments
import WakeModel
import WakePairing

final class PairingDialogue {
    /// The meaning of the other program's line.
    enum Answer: Hashable {
        /// In the words of a person at the keyboard.
        case line(String)
        /// The program has gone, so nothing is agreed to any more.
        case end
        /// It answers nothing.
        case none
    }

    private var shown: String?

    init() { Console.speakJSON() }

    func say(_ step: String) { Console.print(JSONWriter.line { $0.field("step", step) }) }

    func ask(_ question: PairingQuestion?) {
        switch question {
        case .passkey, .pin, nil: print("ask", "passkey")
        case .comparison(let number): print("compare", PairingText.digits(number))
        case .consent: print("ask", "consent")
        }
    }

    /// A passkey is shown once; how much of it was typed is a step.
    func show(_ sentence: String, _ passkey: String?) {
        guard let passkey, passkey != shown else { return say(sentence) }
        shown = passkey
        print("show", passkey)
    }

    func conclude(_ paired: [UInt8]) {
        Console.print(
            JSONWriter.line { writer in
                writer.key("paired")
                writer.fragment(paired.dropLast())
            })
    }

    private func print(_ name: StaticString, _ text: String) { Console.print(JSONWriter.line { $0.field(name, text) }) }

    static func answer(_ line: String?) -> Answer {
        guard let line else { return .end }
        guard let json = try? JSONValue(parsing: Array(line.utf8)) else { return .none }
        if let agrees = json["agrees"]?.boolean { return .line(agrees ? "yes" : "no") }
        return json["passkey"]?.string.map { .line($0) } ?? .none
    }
}
