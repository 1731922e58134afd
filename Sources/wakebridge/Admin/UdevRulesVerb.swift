// wakebridge udev-rules: prints the udev rules that the known accessories need.
import WakeArguments
import WakeDaemon
import WakeModel
import WakeProfiles

extension Verb {
    static var udevRules: Verb {
        Verb(
            name: "udev-rules", summary: "print the udev rules that the accessories of the profiles need",
            synopsis: ["[--profile PROFILE …] [--group GROUP] [--config DIR] [--json]", "--braille"],
            detail: """
                Changes nothing. The rules let a group open the nodes of the accessories, keep ModemManager off them and
                their USB devices awake. They are for your own profiles and for those that a manifest watches, unless
                --profile says which. They are put into effect by:
                  wakebridge udev-rules | sudo tee /etc/udev/rules.d/70-wakebridge.rules
                  sudo udevadm control --reload && sudo udevadm trigger
                'make install' installs those of GPS receivers, and the second file, which --braille prints; these
                go before them. The service runs as root and needs no group; 'run' and 'scan' without root do:
                  sudo groupadd --system wakebridge && sudo usermod -aG wakebridge "$USER"
                """,
            examples: ["wakebridge udev-rules --profile gps-receiver"],
            flags: [
                Flag("profile", short: "p", value: "PROFILE", "of this one only; of several, given several times"),
                Flag(
                    "group", short: "g", value: "GROUP", "the group that may open the accessories (\(UdevRules.group))"),
                Flag("braille", "the file that keeps brltty off, and comes after brltty's own rules"),
                NamedPlaces.configFlag,
                Flag("json", short: "j", "print the rules, the group and the profiles as one JSON document"),
            ]
        ) { words throws(Complaint) in
            try words.atMost(0)
            if words.has("braille") { return try printBraille(words) }
            try printRules(words)
            return 0
        }
    }
}

private func printBraille(_ words: ParsedArguments) throws(Complaint) -> Int32 {
    if let other = words.options.first(where: { $0.name != "braille" }) {
        throw .usage("--braille goes without --\(other.name)")
    }
    Console.print(UdevRules.braille)
    return 0
}

private func printRules(_ words: ParsedArguments) throws(Complaint) {
    let group = words.value("group") ?? UdevRules.group
    let profiles = try accessories(words)
    let rules: UdevRules
    do throws(UdevRulesFault) { rules = try UdevRules(profiles, group: group) } catch {
        throw .failure("cannot make udev rules: \(error.description)")
    }
    guard words.has("json") else { return Console.print(rules.text) }
    Console.print(
        JSONWriter.line { writer in
            writer.field("group", group)
            writer.field("profiles", profiles.map(\.name))
            writer.field("rules", rules.text)
        })
}

/// The named profiles, or those in use.
private func accessories(_ words: ParsedArguments) throws(Complaint) -> [Profile] {
    let places = try NamedPlaces(words)
    let library = places.library
    let wanted = words.options.filter { $0.name == "profile" }.compactMap(\.value)
    if wanted.isEmpty {
        return ProfileFolder.inUse(of: library, in: places.configuration).filter { $0.kind == .externalAccessory }
    }
    let names = library.heads.filter { $0.kind == .externalAccessory }.map(\.name)
    for name in wanted where !names.contains(name) {
        let near = suggestion(for: name, among: names)
        throw .notFound("there is no profile of an accessory named '\(name)'.\(near)")
    }
    return names.filter(wanted.contains).compactMap { library.index(named: $0).map { library[$0] } }
}
