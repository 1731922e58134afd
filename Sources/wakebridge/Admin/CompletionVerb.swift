// wakebridge completion: prints the script for a shell, and what fits at a word, which the script asks for.
import WakeArguments
import WakeModel

extension Verb {
    static var completion: Verb {
        Verb(
            name: "completion", summary: "print the script with which bash, zsh or fish completes command lines",
            synopsis: ["bash|zsh|fish", "[--json] offer -- WORD…"],
            detail: """
                'make install' puts the scripts in place. To load one by hand, run one of:
                  source <(wakebridge completion bash)
                  source <(wakebridge completion zsh)
                  wakebridge completion fish | source

                The scripts ask the tool what fits: with 'offer' it prints a line for each word that can stand in place of the
                last WORD, with its meaning after a tab. A line such as :files names what the shell lists by itself.
                """,
            examples: ["wakebridge completion bash"],
            flags: [Flag("json", short: "j", "with offer: print the words as JSON")],
            operands: [.words("bash", "zsh", "fish", "offer")]
        ) { words throws(Complaint) in
            let known = CompletionScript.allCases.map(\.rawValue)
            guard let word = words.operands.first else { throw .usage("say for which shell: bash, zsh or fish") }
            if word == "offer" { return try offer(words) }
            guard let script = CompletionScript(rawValue: word) else {
                throw .usage("there is no completion for '\(word)'.\(suggestion(for: word, among: known))")
            }
            try words.atMost(1)
            if words.has("json") { throw .usage("--json goes with offer only") }
            Console.print(script.text)
            return 0
        }
    }

    private static func offer(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        try words.atMost(1, takesProgram: true)
        guard let line = words.trailing else { throw .usage("the words of a command line must follow after '--'") }
        let offer = CompletionOffer(for: line)
        guard words.has("json") else {
            Console.print(offer.text)
            return 0
        }
        Console.print(
            JSONWriter.line { writer in
                writer.objects("words", offer.candidates) { writer, candidate in
                    writer.field("word", candidate.word)
                    writer.field("meaning", candidate.meaning.isEmpty ? nil : candidate.meaning)
                }
                writer.field("lists", offer.listing.map { String($0.rawValue.dropFirst()) })
            })
        return 0
    }
}
