// Malformed manifests, settings and profiles, each with the exact sentence that you get.

/// One file that must be refused.
struct ConfigurationFault: Sendable, CustomStringConvertible {
    enum Kind: Sendable { case manifest, rootManifest, settings, profile }
    var kind: Kind
    var text: String
    var sentence: String
    var description: String { "\(kind): \(sentence)" }
}

private func manifest(_ text: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(kind: .manifest, text: text, sentence: "handlers.d/hr.json5: \(sentence)")
}

/// A manifest that is valid but for `extra`.
private func manifest(with extra: String, _ sentence: String) -> ConfigurationFault {
    manifest("{exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [], \(extra)}", sentence)
}

/// A manifest that is valid but for one subscription.
private func manifest(watching watch: String, _ sentence: String) -> ConfigurationFault {
    manifest("{exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [\(watch)]}", sentence)
}

private func settings(_ text: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(kind: .settings, text: text, sentence: "wakebridge.json5: \(sentence)")
}

private func profile(_ text: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(kind: .profile, text: text, sentence: "Devices/p/profile.json5: \(sentence)")
}

/// A profile that is valid but for its field list.
private func profile(fields: String, _ sentence: String) -> ConfigurationFault {
    profile(
        """
        {name: "p", title: "P", mode: "bluetooth-central", match: {services: ["180d"]},
         characteristics: {"2a37": {name: "c", fields: [\(fields)]}}}
        """, sentence)
}

private enum Sentence {
    static let noDevices =
        "instance \"device\" gives each device of watch a process of its own, and watch names none; add one to watch"
}

private let field = "characteristics.2a37.fields"

let brokenDocuments: [ConfigurationFault] = [
    manifest("", "line 1, column 1: the file is empty; write an object, {…}"),
    manifest("// nothing\n", "line 2, column 1: the file is empty; write an object, {…}"),
    manifest("[]", "the file is a list, expected an object, {…}"),
    manifest("{exec: [\"/bin/cat\"]", "line 1, column 20: expected ',' or '}', found end of file"),
    manifest("{\n  exec: [\"/bin/cat\"\n  modes: []}", "line 3, column 3: expected ',' or ']', found 'm'"),
    manifest("{exec [\"/bin/cat\"]}", "line 1, column 7: expected ':' after key \"exec\", found '['"),
    manifest("{exec: [\"/bin/cat], modes: []}", "line 1, column 9: a text that starts here has no closing quote"),
    manifest(
        "{exec: [\"/bin/cat\"],\n lifecycle: resident}",
        "line 2, column 13: resident is not a value; a text needs quotes, \"resident\""),
    manifest("{exec: [], /* oops", "line 1, column 12: a comment that starts here has no */"),
    manifest("{exec: [],\n exec: []}", "line 2, column 2: key \"exec\" comes twice; keep one"),
    manifest("{exec: []} }", "line 1, column 12: unexpected '}' after the end of the object"),
    manifest("{exec: , }", "line 1, column 8: expected a value, found ','"),
    manifest(
        "{max_batch: 1e999}", "line 1, column 13: 1e999 is a number that cannot be read; fix it or write a smaller one"),
    manifest("{max_batch: 0x}", "line 1, column 13: 0x is a number that cannot be read; fix it or write a smaller one"),
    manifest("{exec: " + String(repeating: "[", count: 100_000), "line 1, column 23: nested deeper than 16"),
    manifest(
        "{exec: [" + String(repeating: "0,", count: 30_000) + "]}",
        "line 1, column 40005: more than 20000 values; split the file"),
    manifest("{exec: ['/bin/cat", "line 1, column 9: a text that starts here has no closing quote"),
    manifest("{exec: ['a\\\nb']}", "line 1, column 9: a text runs over the end of its line; close it, or write \\n"),
    manifest(String(repeating: " ", count: 10_000_000), "the file is larger than 1 MiB; this is not a configuration"),
]

let brokenManifests: [ConfigurationFault] = [
    manifest("{}", "exec is missing\nhandlers.d/hr.json5: modes is missing\nhandlers.d/hr.json5: watch is missing"),
    manifest(
        "{exec: [\"/bin/cat\"],\n after: [\"power\"]}",
        "after says what it waits for, and nothing starts it then; add autostart: true, or watch, alarms, poll, jobs, regions, inbox, flows, sockets or peripheral"
    ),
    manifest(
        with: "flows: [{name: \"ecg\", from: \"strap\"}]",
        "flows: \"from\" of a flow takes \"device:NAME\", \"socket:NAME\" or \"self\"; here stands \"strap\". Write \"device:NAME\", \"socket:NAME\" or \"self\"."
    ),
    manifest(
        with: "flows: [{name: \"call\", from: \"socket:sip\"}]",
        "the flow \"call\" comes from \"socket:sip\", and sockets declares none of that name; declare it"),
    manifest(
        with: "lifecycle: \"oneshot\", flows: [{name: \"ecg\", from: \"self\"}]",
        "flows do not fit lifecycle \"oneshot\", which cannot be told that a flow has ended; make it resident"),
    manifest(
        with: "ack: \"delivery\", flows: [{name: \"ecg\", from: \"self\"}]",
        "flows do not fit ack \"delivery\", which ends each flow as it begins; make it explicit"),
    manifest(with: "lifecicle: \"oneshot\"", "unknown key \"lifecicle\"; did you mean \"lifecycle\"?"),
    manifest(
        with: "zebra: 1",
        "unknown key \"zebra\"; known keys are exec, user, group, groups, env, cwd, modes, watch, lifecycle, ready, ack, budget, max_extension, on_overrun, max_batch, autostart, timers, enabled, stop_events, idle_exit, allow_background_children, queue_cap, notify, require, limits, after, instance, sleepers_listen, alarms, poll, jobs, regions, inbox, flows, transfers, sockets, peripheral"
    ),
    manifest(with: "instance: \"devise\"", "instance is \"devise\"; did you mean \"device\"?"),
    manifest(
        "{exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [{profile: \"heart-rate-monitor\"}], instance: \"device\", sockets: [{name: \"d\", listen: \"unix:/run/d\"}]}",
        "instance \"device\" makes several handlers of it, and one alone can listen at an address; listen in another manifest"
    ),
    manifest(with: "instance: \"handler\"", "instance is \"handler\", expected one of \"one\", \"device\""),
    manifest(with: "instance: true", "instance is true, expected one of \"one\", \"device\""),
    manifest(with: "instance: [\"device\"]", "instance is a list, expected one of \"one\", \"device\""),
    manifest(with: "instance: \"\"", "instance is \"\", expected one of \"one\", \"device\""),
    manifest(with: "instances: 3", "unknown key \"instances\"; did you mean \"instance\"?"),
    manifest(with: "instance: \"device\"", Sentence.noDevices),
    manifest("{exec: [\"/bin/cat\"], instance: \"device\", autostart: true}", Sentence.noDevices),
    manifest("{exec: [\"/bin/cat\"], instance: \"device\", poll: {}}", Sentence.noDevices),
    manifest(
        with: "sleepers_listen: \"refuze\"", "sleepers_listen is \"refuze\"; did you mean \"refuse\"?"),
    manifest(
        with: "sleepers_listen: false",
        "sleepers_listen is false, expected one of \"report\", \"refuse\", \"allow\""),
    manifest(
        with: "sleepers_listen: \"never\"",
        "sleepers_listen is \"never\", expected one of \"report\", \"refuse\", \"allow\""),
    manifest(
        with: "sleepers_listens: \"refuse\"", "unknown key \"sleepers_listens\"; did you mean \"sleepers_listen\"?"),
    manifest(
        with: "lifecycle: \"oneshot\", sleepers_listen: \"refuse\"",
        "sleepers_listen does not fit lifecycle \"oneshot\", which is never frozen; remove it"),
    manifest(
        with: "env: {WAKEBRIDGE_DEVICE: \"x\"}",
        "env sets WAKEBRIDGE_DEVICE, which the bridge sets itself; remove it"),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", polcy: \"all\"}",
        "unknown key \"polcy\" in watch[0]; did you mean \"policy\"?"),
    manifest(watching: "{device: \"strap\"}", "watch[0].profile is missing"),
    manifest(watching: "\"heart-rate-monitor\"", "watch[0] is \"heart-rate-monitor\", expected an object, {…}"),
    manifest(
        watching: "{profile: \"heart-rate-moniter\"}",
        "watch[0].profile is \"heart-rate-moniter\", which is no known profile; did you mean \"heart-rate-monitor\"?"),
    manifest(
        watching: "{profile: \"toaster\"}",
        "watch[0].profile is \"toaster\", which is no known profile; put it into Devices or correct the name"),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", policy: \"lates\"}",
        "watch[0].policy is \"lates\"; did you mean \"latest\"?"),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", durability: \"tape\"}",
        "watch[0].durability is \"tape\", expected one of \"ram\", \"run\", \"disk\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", wake: \"yes\"}", "watch[0].wake is \"yes\", expected true or false"
    ),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", max_latency: 5}",
        "watch[0].max_latency is 5, expected a duration from 0s to 1d, such as \"10s\" or \"250ms\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", queue_cap: \"64MB\"}",
        "watch[0].queue_cap is \"64MB\", expected a size from 64KiB to 4GiB, such as \"64MiB\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", retention: \"0s\"}",
        "watch[0].retention is \"0s\", expected a duration from 1s to 3650d, such as \"10s\" or \"250ms\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\"}, {profile: \"heart-rate-monitor\"}",
        "watch names profile \"heart-rate-monitor\" twice; keep one"),
    manifest(
        "{exec: [\"/bin/cat\"], modes: [\"external-accessory\"], watch: [{profile: \"heart-rate-monitor\"}]}",
        "watch[0].profile is \"heart-rate-monitor\" of mode \"bluetooth-central\", which modes does not declare; add it there"
    ),
    manifest(
        "{exec: [\"/bin/cat\"], modes: [\"bluetooth-centre\"], watch: []}",
        "modes[0] is \"bluetooth-centre\"; did you mean \"bluetooth-central\"?"),
    manifest(
        "{exec: [\"/bin/cat\"], modes: \"bluetooth-central\", watch: []}",
        "modes is \"bluetooth-central\", expected a list of modes"),
    manifest(with: "require: [\"powr\"]", "require[0] is \"powr\"; did you mean \"power\"?"),
    manifest(with: "require: [\"network\"]", "require[0] is \"network\", expected one of \"power\", \"bonded\""),
    manifest(with: "require: [\"bond\"]", "require[0] is \"bond\"; did you mean \"bonded\"?"),
    manifest(
        "{exec: [\"/bin/cat\"], modes: [\"external-accessory\"], watch: [{profile: \"gps-receiver\"}], require: [\"bonded\"]}",
        "require names \"bonded\", but watch names only accessories without Bluetooth, which have no bond, so it would never be woken; remove \"bonded\", or watch a profile of Bluetooth devices"
    ),
    manifest(with: "limits: { open_files: 1 }", "limits.open_files is 1, expected a whole number from 16 to 1048576"),
    manifest(with: "limits: { processes: 0 }", "limits.processes is 0, expected a whole number from 1 to 1000000"),
    manifest(
        with: "limits: { memory: 64 }", "limits.memory is 64, expected a size from 1MiB to 1024GiB, such as \"64MiB\""),
    manifest(
        with: "limits: { procs: 1 }", "unknown key \"procs\" in limits; known keys are open_files, processes, memory"),
    manifest(with: "require: \"power\"", "require is \"power\", expected a list of conditions"),
    manifest("{exec: \"/bin/cat\", modes: [], watch: []}", "exec is \"/bin/cat\", expected a list of texts"),
    manifest(
        "{exec: [], modes: [], watch: []}", "exec names no program; write it as [\"/path/to/program\", \"argument\"]"),
    manifest(
        "{exec: [\"cat\"], modes: [], watch: []}",
        "exec[0] is \"cat\", expected an absolute path, or one that starts with ./ beside the manifest"),
    manifest("{exec: [\"/bin/cat\", 7], modes: [], watch: []}", "exec[1] is 7, expected a text"),
    manifest(with: "user: \"\"", "user is \"\", expected a text that is not empty"),
    manifest(with: "cwd: \"data\"", "cwd is \"data\", expected an absolute path"),
    manifest(with: "env: {WAKEBRIDGE_FD: \"4\"}", "env sets WAKEBRIDGE_FD, which the bridge sets itself; remove it"),
    manifest(with: "env: {\"A=B\": \"4\"}", "env has the name \"A=B\", expected one without '='"),
    manifest(with: "env: {A: 4}", "env.A is 4, expected a text"),
    manifest(with: "ready: true", "ready is true, expected one of \"implicit\", \"explicit\""),
    manifest(with: "ack: \"never\"", "ack is \"never\", expected one of \"explicit\", \"delivery\""),
    manifest(
        with: "budget: \"0s\"", "budget is \"0s\", expected a duration from 100ms to 1d, such as \"10s\" or \"250ms\""),
    manifest(
        with: "budget: \"ten seconds\"",
        "budget is \"ten seconds\", expected a duration from 100ms to 1d, such as \"10s\" or \"250ms\""),
    manifest(
        with: "budget: \"1s\", timers: {warn: \"2s\"}", "warn is 2s, longer than budget, 1s; lower warn or raise budget"
    ),
    manifest(
        with: "budget: \"20s\", timers: {budget: \"10s\"}", "budget is set twice, at the top and in timers; keep one"),
    manifest(
        with: "max_extension: \"181s\"",
        "max_extension is \"181s\", expected a duration from 0s to 3m, such as \"10s\" or \"250ms\""),
    manifest(with: "max_batch: 0", "max_batch is 0, expected a whole number from 1 to 1024"),
    manifest(with: "max_batch: 2000", "max_batch is 2000, expected a whole number from 1 to 1024"),
    manifest(with: "max_batch: 1.5", "max_batch is 1.5, expected a whole number from 1 to 1024"),
    manifest(with: "on_overrun: \"terminat\"", "on_overrun is \"terminat\"; did you mean \"terminate\"?"),
    manifest(with: "stop_events: null", "stop_events is null, expected one of \"drop\", \"keep\""),
    manifest(with: "timers: {lingr: \"20ms\"}", "unknown key \"lingr\" in timers; did you mean \"linger\"?"),
    manifest(
        with: "timers: {retry_base: \"1s\"}",
        "timers.retry_base is \"1s\", expected a duration from 10s to 1d, such as \"10s\" or \"250ms\""),
    manifest(
        with: "timers: {failure_base: \"10m\"}",
        "failure_base is 10m, longer than failure_cap, 5m; lower failure_base or raise failure_cap"),
    manifest(
        with: "timers: []",
        "timers is a list, expected an object, {…}\nhandlers.d/hr.json5: timers is a list, expected an object, {…}"),
    manifest(
        with: "queue_cap: \"1KiB\"", "queue_cap is \"1KiB\", expected a size from 64KiB to 4GiB, such as \"64MiB\""),
    manifest(with: "notify: \"yes\"", "notify is \"yes\", expected true or false"),
    manifest(with: "notfy: true", "unknown key \"notfy\"; did you mean \"notify\"?"),
    manifest(
        with: "lifecycle: \"oneshot\", autostart: true",
        "autostart does not fit lifecycle \"oneshot\", which is launched for each batch; remove it"),
    manifest(
        with: "lifecycle: \"oneshot\", ready: \"explicit\"",
        "ready \"explicit\" does not fit lifecycle \"oneshot\", whose batch is there from the start; remove it"),
    ConfigurationFault(
        kind: .rootManifest, text: "{exec: [\"/bin/cat\"], modes: [], watch: []}",
        sentence:
            "handlers.d/hr.json5: user is missing; the bridge runs as root and runs no handler as root unless told, write user: \"auto\""
    ),
]

let brokenSettings: [ConfigurationFault] = [
    settings("{metered_links: \"wwan*\"}", "metered_links is \"wwan*\", expected a list of texts"),
    settings("{metered_links: [\"wwan*\", 4]}", "metered_links[1] is 4, expected a text"),
    settings("{controlgroup: \"wake\"}", "unknown key \"controlgroup\"; did you mean \"control_group\"?"),
    settings(
        "{storm: {events_per_second: 0}}", "storm.events_per_second is 0, expected a whole number from 1 to 1000000"),
    settings(
        "{storm: {events_per_secnd: 10}}",
        "unknown key \"events_per_secnd\" in storm; did you mean \"events_per_second\"?"),
    settings(
        "{adapter: \"hci0\"}", "adapter is \"hci0\", expected an adapter's address such as \"00:1A:7D:DA:71:13\""),
    settings(
        "{devices: {strap: {adaptor: \"00:1A:7D:DA:71:13\"}}}",
        "unknown key \"adaptor\" in devices.strap; did you mean \"adapter\"?"),
    settings(
        "{web: {listen: \"pi.local:8787\"}}",
        "web.listen is \"pi.local:8787\", expected a numeric address and a port such as \"127.0.0.1:8787\""),
    settings(
        "{web: {proxies: [\"127.0.0.1\", \"10.0.0.9:80\"]}}",
        "web.proxies has \"10.0.0.9:80\", expected numeric addresses without ports"),
    settings("{web: {prefix: \"bridge\"}}", "web.prefix is \"bridge\", expected a path such as \"/bridge/\""),
    settings(
        "{web: {certificate: \"cert.pem\", key: \"/key.pem\"}}",
        "web.certificate is \"cert.pem\", expected the absolute path of a PEM file"),
    settings("{control_role: \"operator\"}", "control_role is \"operator\"; did you mean \"operate\"?"),
    settings("{suspend: \"cgroups\"}", "suspend is \"cgroups\"; did you mean \"cgroup\"?"),
    settings(
        "{flips: {within: \"10\"}}",
        "flips.within is \"10\", expected a duration from 100ms to 1h, such as \"10s\" or \"250ms\""),
    settings(
        "{journal: {max_size: 5}}", "journal.max_size is 5, expected a size from 1MiB to 1024GiB, such as \"64MiB\""),
    settings(
        "{memory: {reclaim_below_percent: 95}}",
        "memory.reclaim_below_percent is 95, expected a whole number from 0 to 90"),
    settings(
        "{thermal: {limit_celsius: 8}}", "thermal.limit_celsius is 8, expected a whole number from 30 to 150"),
    settings(
        "{alerts: {command: [\"tell\"]}}",
        "alerts.command is a list, expected a program's absolute path and its arguments, such as [\"/usr/bin/wall\"]"),
    settings(
        "{alerts: {command: []}}",
        "alerts.command is a list, expected a program's absolute path and its arguments, such as [\"/usr/bin/wall\"]"),
    settings(
        "{alerts: {ntfy: \"my-topic\"}}",
        "alerts.ntfy is \"my-topic\", expected the address of a topic, such as \"https://ntfy.sh/my-topic\""),
    settings("{alerts: {mqtt: \"x\"}}", "unknown key \"mqtt\" in alerts; known keys are command, user, ntfy"),
    settings("{replay: {speed: \"max\"}}", "replay.file is missing"),
    settings("{remote: [{bridge: \"kitchen\"}]}", "remote[0].broker is missing"),
    settings("{remote: [{broker: \"mqtt://hub\"}]}", "remote[0].bridge is missing"),
    settings(
        "{remote: [{broker: \"mqtt://hub\", bridge: \"a/b\"}]}",
        "remote[0].bridge is \"a/b\", expected up to 64 of a-z, A-Z, 0-9, '-', '_' and '.', first a letter or digit"),
    settings(
        "{remote: [{broker: \"mqtt://hub\", bridge: \"a\"}, {broker: \"mqtts://hub\", bridge: \"a\"}]}",
        "bridge \"a\" stands twice in remote; keep one"),
    settings(
        "{replay: {file: \"a.trace\", speed: \"fast\"}}",
        "replay.speed is \"fast\", expected a number from 0.01 to 1000, or \"max\""),
    settings("{log: 5}", "log is 5, expected an object, {…}"),
    settings(
        "{timers: {budget: \"99999999999d\"}}",
        "timers.budget is \"99999999999d\", expected a duration from 100ms to 1d, such as \"10s\" or \"250ms\""),
]

let brokenProfiles: [ConfigurationFault] = [
    profile(
        "{}",
        "name is missing\nDevices/p/profile.json5: title is missing\nDevices/p/profile.json5: mode is missing\nDevices/p/profile.json5: match is missing"
    ),
    profile(
        "{name: \"q\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}}",
        "name is \"q\", expected \"p\", the name of its folder"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth\", match: {}}",
        "mode is \"bluetooth\"; did you mean \"bluetooth-central\"?"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {}}",
        "match asks for nothing and would match every device; name one of services, name_prefix, broadcast, properties"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"18 0d\"]}}",
        "match.services[0] is \"18 0d\", expected a Bluetooth UUID such as \"2a37\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", node: \"none\", match: {services: [\"180d\"]}}",
        "match.services does not fit mode \"external-accessory\"; remove it or change the mode"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, streams: {report: {}}}",
        "streams has the key \"report\", expected \"serial\", \"input\" or \"report-1\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, node: \"none\", characteristics: {}}",
        "characteristics does not fit mode \"external-accessory\"; write streams"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, node: \"none\", advertisement: {}}",
        "advertisement does not fit mode \"external-accessory\"; remove it or change the mode"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {service_data: {x: {fields: []}}}}",
        "advertisement.service_data has the key \"x\", expected a Bluetooth UUID such as \"181a\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {manufacturer_data: {\"499\": {fields: []}}}}",
        "advertisement.manufacturer_data has the key \"499\", expected a company such as \"0499\", or \"any\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {service_dta: {}}}",
        "unknown key \"service_dta\" in advertisement; did you mean \"service_data\"?"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {service_data: {\"181a\": {}}}}",
        "advertisement.service_data.181a.fields is missing"),
    profile(fields: "", "\(field) is empty; leave characteristics.2a37 out to get raw bytes only"),
    profile(fields: "{name: \"x\"}", "\(field)[0].type is missing"),
    profile(fields: "{name: \"x\", type: \"uint9\"}", "\(field)[0].type is \"uint9\"; did you mean \"uint8\"?"),
    profile(
        fields: "{name: \"x\", type: \"int128\"}",
        "\(field)[0].type is \"int128\", expected one of \"uint8\", \"uint16\", \"uint24\", \"uint32\", \"uint40\", \"uint48\", \"uint56\", \"uint64\", \"sint8\", \"sint16\", \"sint24\", \"sint32\", \"sint48\", \"sint64\", \"sfloat\", \"float\", \"float32\", \"float64\", \"utf8\", \"bytes\", \"uuid\", \"mac\", \"time\", \"bits\", \"ubits\", \"sbits\", \"sum\", \"difference\", \"product\", \"quotient\", \"power\""
    ),
    profile(
        fields: "{name: \"heart rate\", type: \"uint8\"}",
        "\(field)[0].name is \"heart rate\", expected up to 64 of the characters a-z, 0-9 and _"),
    profile(
        fields: "{name: \"x\", type: \"uint8\", iff: \"flags\"}",
        "unknown key \"iff\" in \(field)[0]; did you mean \"if\"?"),
    profile(
        fields: "{name: \"x\", type: \"uint8\", if: \"flags.wide\"}",
        "\(field)[0].if speaks of \"flags\", which is no whole-number field above; name one that stands above it"),
    profile(
        fields: "{name: \"f\", type: \"uint8\", bits: {wide: 0}}, {name: \"x\", type: \"uint8\", if: \"f.wid\"}",
        "\(field)[1].if speaks of \"f.wid\", which f does not name; did you mean \"f.wide\"?"),
    profile(
        fields: "{name: \"f\", type: \"uint8\", bits: {wide: 8}}",
        "\(field)[0].bits.wide is 8, expected a bit number or a range such as \"4-6\" below 8"),
    profile(
        fields: "{name: \"f\", type: \"uint8\", values: {a: \"b\"}}",
        "\(field)[0].values has the key \"a\", expected a whole number in quotes, such as \"1\""),
    profile(
        fields:
            "{name: \"f\", type: \"uint8\", values: {\"1\": \"chest\"}}, {name: \"x\", type: \"uint8\", if: \"f=chst\"}",
        "\(field)[1].if compares with \"chst\"; did you mean \"chest\"?"),
    profile(
        fields: "{name: \"x\", type: \"uint8\"}, {name: \"x\", type: \"uint8\"}",
        "\(field)[1] comes after another field named \"x\"; rename one, or let one stand under if and the other under unless of the same bits"
    ),
    profile(
        fields: "{name: \"x\", type: \"uint8\", repeat: true}, {name: \"y\", type: \"uint8\"}",
        "\(field)[1] comes after \"x\", which takes all that is left; move \"x\" to the end"),
    profile(
        fields: "{name: \"x\", type: \"uint8\", scale: 0.1}",
        "\(field)[0] needs scale and decimals together, so that nothing is rounded unsaid"),
    profile(
        fields: "{name: \"x\", type: \"uint8\", scale: \"1/0\", decimals: 1}",
        "\(field)[0].scale is \"1/0\", expected a number that is not 0, or a fraction such as \"1/1024\""),
    profile(
        fields: "{name: \"x\", type: \"utf8\", endian: \"big\"}",
        "\(field)[0].endian does not fit type \"utf8\"; it orders the bytes of numbers"),
    profile(fields: "{name: \"x\", type: \"bits\"}", "\(field)[0].of is missing; it names the bits"),
    profile(
        fields: "{name: \"f\", type: \"uint8\"}, {name: \"x\", type: \"uint8\", if: \"f\", unless: \"f\"}",
        "\(field)[1] has both if and unless; keep one"),
]
