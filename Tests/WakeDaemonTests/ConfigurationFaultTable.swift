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
    manifest("[]", "the file must be an object, {…}; got a list"),
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
        "flows: \"from\" of a flow must be \"device:NAME\", \"socket:NAME\" or \"self\"; got \"strap\". Write \"device:NAME\", \"socket:NAME\" or \"self\"."
    ),
    manifest(
        with: "flows: [{name: \"call\", from: \"socket:sip\"}]",
        "the flow \"call\" comes from \"socket:sip\", and sockets declares none of that name; declare it"),
    manifest(
        with: "lifecycle: \"oneshot\", flows: [{name: \"ecg\", from: \"self\"}]",
        "flows do not fit lifecycle \"oneshot\", which cannot learn that a flow has ended; make it resident"),
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
    manifest(with: "instance: \"handler\"", "instance must be one of \"one\", \"device\"; got \"handler\""),
    manifest(with: "instance: true", "instance must be one of \"one\", \"device\"; got true"),
    manifest(with: "instance: [\"device\"]", "instance must be one of \"one\", \"device\"; got a list"),
    manifest(with: "instance: \"\"", "instance must be one of \"one\", \"device\"; got \"\""),
    manifest(with: "instances: 3", "unknown key \"instances\"; did you mean \"instance\"?"),
    manifest(with: "instance: \"device\"", Sentence.noDevices),
    manifest("{exec: [\"/bin/cat\"], instance: \"device\", autostart: true}", Sentence.noDevices),
    manifest("{exec: [\"/bin/cat\"], instance: \"device\", poll: {}}", Sentence.noDevices),
    manifest(
        with: "sleepers_listen: \"refuze\"", "sleepers_listen is \"refuze\"; did you mean \"refuse\"?"),
    manifest(
        with: "sleepers_listen: false",
        "sleepers_listen must be one of \"report\", \"refuse\", \"allow\"; got false"),
    manifest(
        with: "sleepers_listen: \"never\"",
        "sleepers_listen must be one of \"report\", \"refuse\", \"allow\"; got \"never\""),
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
    manifest(watching: "\"heart-rate-monitor\"", "watch[0] must be an object, {…}; got \"heart-rate-monitor\""),
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
        "watch[0].durability must be one of \"ram\", \"run\", \"disk\"; got \"tape\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", wake: \"yes\"}", "watch[0].wake must be true or false; got \"yes\""
    ),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", max_latency: 5}",
        "watch[0].max_latency must be a duration from 0s to 1d, such as \"10s\" or \"250ms\"; got 5"),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", queue_cap: \"64MB\"}",
        "watch[0].queue_cap must be a size from 64KiB to 4GiB, such as \"64MiB\"; got \"64MB\""),
    manifest(
        watching: "{profile: \"heart-rate-monitor\", retention: \"0s\"}",
        "watch[0].retention must be a duration from 1s to 3650d, such as \"10s\" or \"250ms\"; got \"0s\""),
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
        "modes must be a list of modes; got \"bluetooth-central\""),
    manifest(with: "require: [\"powr\"]", "require[0] is \"powr\"; did you mean \"power\"?"),
    manifest(with: "require: [\"network\"]", "require[0] must be one of \"power\", \"bonded\"; got \"network\""),
    manifest(with: "require: [\"bond\"]", "require[0] is \"bond\"; did you mean \"bonded\"?"),
    manifest(
        "{exec: [\"/bin/cat\"], modes: [\"external-accessory\"], watch: [{profile: \"gps-receiver\"}], require: [\"bonded\"]}",
        "require names \"bonded\", but watch names only accessories without Bluetooth, which have no bond, so it would never be woken; remove \"bonded\", or watch a profile of Bluetooth devices"
    ),
    manifest(with: "limits: { open_files: 1 }", "limits.open_files must be a whole number from 16 to 1048576; got 1"),
    manifest(with: "limits: { processes: 0 }", "limits.processes must be a whole number from 1 to 1000000; got 0"),
    manifest(
        with: "limits: { memory: 64 }", "limits.memory must be a size from 1MiB to 1024GiB, such as \"64MiB\"; got 64"),
    manifest(
        with: "limits: { procs: 1 }", "unknown key \"procs\" in limits; known keys are open_files, processes, memory"),
    manifest(with: "require: \"power\"", "require must be a list of conditions; got \"power\""),
    manifest("{exec: \"/bin/cat\", modes: [], watch: []}", "exec must be a list of texts; got \"/bin/cat\""),
    manifest(
        "{exec: [], modes: [], watch: []}", "exec names no program; write it as [\"/path/to/program\", \"argument\"]"),
    manifest(
        "{exec: [\"cat\"], modes: [], watch: []}",
        "exec[0] must be an absolute path, or one that starts with ./ beside the manifest; got \"cat\""),
    manifest("{exec: [\"/bin/cat\", 7], modes: [], watch: []}", "exec[1] must be a text; got 7"),
    manifest(with: "user: \"\"", "user must be a text that is not empty; got \"\""),
    manifest(with: "cwd: \"data\"", "cwd must be an absolute path; got \"data\""),
    manifest(with: "env: {WAKEBRIDGE_FD: \"4\"}", "env sets WAKEBRIDGE_FD, which the bridge sets itself; remove it"),
    manifest(with: "env: {\"A=B\": \"4\"}", "a name in env must have no '='; got \"A=B\""),
    manifest(with: "env: {A: 4}", "env.A must be a text; got 4"),
    manifest(with: "ready: true", "ready must be one of \"implicit\", \"explicit\"; got true"),
    manifest(with: "ack: \"never\"", "ack must be one of \"explicit\", \"delivery\"; got \"never\""),
    manifest(
        with: "budget: \"0s\"", "budget must be a duration from 100ms to 1d, such as \"10s\" or \"250ms\"; got \"0s\""),
    manifest(
        with: "budget: \"ten seconds\"",
        "budget must be a duration from 100ms to 1d, such as \"10s\" or \"250ms\"; got \"ten seconds\""),
    manifest(
        with: "budget: \"1s\", timers: {warn: \"2s\"}", "warn is 2s, longer than budget, 1s; lower warn or raise budget"
    ),
    manifest(
        with: "budget: \"20s\", timers: {budget: \"10s\"}", "budget is set twice, at the top and in timers; keep one"),
    manifest(
        with: "max_extension: \"181s\"",
        "max_extension must be a duration from 0s to 3m, such as \"10s\" or \"250ms\"; got \"181s\""),
    manifest(with: "max_batch: 0", "max_batch must be a whole number from 1 to 1024; got 0"),
    manifest(with: "max_batch: 2000", "max_batch must be a whole number from 1 to 1024; got 2000"),
    manifest(with: "max_batch: 1.5", "max_batch must be a whole number from 1 to 1024; got 1.5"),
    manifest(with: "on_overrun: \"terminat\"", "on_overrun is \"terminat\"; did you mean \"terminate\"?"),
    manifest(with: "stop_events: null", "stop_events must be one of \"drop\", \"keep\"; got null"),
    manifest(with: "timers: {lingr: \"20ms\"}", "unknown key \"lingr\" in timers; did you mean \"linger\"?"),
    manifest(
        with: "timers: {retry_base: \"1s\"}",
        "timers.retry_base must be a duration from 10s to 1d, such as \"10s\" or \"250ms\"; got \"1s\""),
    manifest(
        with: "timers: {failure_base: \"10m\"}",
        "failure_base is 10m, longer than failure_cap, 5m; lower failure_base or raise failure_cap"),
    manifest(
        with: "timers: []",
        "timers must be an object, {…}; got a list\nhandlers.d/hr.json5: timers must be an object, {…}; got a list"),
    manifest(
        with: "queue_cap: \"1KiB\"", "queue_cap must be a size from 64KiB to 4GiB, such as \"64MiB\"; got \"1KiB\""),
    manifest(with: "notify: \"yes\"", "notify must be true or false; got \"yes\""),
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
    settings("{metered_links: \"wwan*\"}", "metered_links must be a list of texts; got \"wwan*\""),
    settings("{metered_links: [\"wwan*\", 4]}", "metered_links[1] must be a text; got 4"),
    settings("{controlgroup: \"wake\"}", "unknown key \"controlgroup\"; did you mean \"control_group\"?"),
    settings(
        "{storm: {events_per_second: 0}}", "storm.events_per_second must be a whole number from 1 to 1000000; got 0"),
    settings(
        "{storm: {events_per_secnd: 10}}",
        "unknown key \"events_per_secnd\" in storm; did you mean \"events_per_second\"?"),
    settings(
        "{adapter: \"hci0\"}", "adapter must be an adapter's address such as \"00:1A:7D:DA:71:13\"; got \"hci0\""),
    settings(
        "{devices: {strap: {adaptor: \"00:1A:7D:DA:71:13\"}}}",
        "unknown key \"adaptor\" in devices.strap; did you mean \"adapter\"?"),
    settings(
        "{web: {listen: \"pi.local:8787\"}}",
        "web.listen must be a numeric address and a port such as \"127.0.0.1:8787\"; got \"pi.local:8787\""),
    settings(
        "{web: {proxies: [\"127.0.0.1\", \"10.0.0.9:80\"]}}",
        "web.proxies must be numeric addresses without ports; got \"10.0.0.9:80\""),
    settings("{web: {prefix: \"bridge\"}}", "web.prefix must be a path such as \"/bridge/\"; got \"bridge\""),
    settings(
        "{web: {certificate: \"cert.pem\", key: \"/key.pem\"}}",
        "web.certificate must be the absolute path of a PEM file; got \"cert.pem\""),
    settings("{control_role: \"operator\"}", "control_role is \"operator\"; did you mean \"operate\"?"),
    settings("{suspend: \"cgroups\"}", "suspend is \"cgroups\"; did you mean \"cgroup\"?"),
    settings(
        "{flips: {within: \"10\"}}",
        "flips.within must be a duration from 100ms to 1h, such as \"10s\" or \"250ms\"; got \"10\""),
    settings(
        "{journal: {max_size: 5}}", "journal.max_size must be a size from 1MiB to 1024GiB, such as \"64MiB\"; got 5"),
    settings(
        "{memory: {reclaim_below_percent: 95}}",
        "memory.reclaim_below_percent must be a whole number from 0 to 90; got 95"),
    settings(
        "{thermal: {limit_celsius: 8}}", "thermal.limit_celsius must be a whole number from 30 to 150; got 8"),
    settings(
        "{alerts: {command: [\"tell\"]}}",
        "alerts.command must be a program's absolute path and its arguments, such as [\"/usr/bin/wall\"]; got a list"),
    settings(
        "{alerts: {command: []}}",
        "alerts.command must be a program's absolute path and its arguments, such as [\"/usr/bin/wall\"]; got a list"),
    settings(
        "{alerts: {ntfy: \"my-topic\"}}",
        "alerts.ntfy must be the address of a topic, such as \"https://ntfy.sh/my-topic\"; got \"my-topic\""),
    settings("{alerts: {mqtt: \"x\"}}", "unknown key \"mqtt\" in alerts; known keys are command, user, ntfy"),
    settings("{replay: {speed: \"max\"}}", "replay.file is missing"),
    settings("{remote: [{bridge: \"kitchen\"}]}", "remote[0].broker is missing"),
    settings("{remote: [{broker: \"mqtt://hub\"}]}", "remote[0].bridge is missing"),
    settings(
        "{remote: [{broker: \"mqtt://hub\", bridge: \"a/b\"}]}",
        "remote[0].bridge must be up to 64 of a-z, A-Z, 0-9, '-', '_' and '.', first a letter or digit; got \"a/b\""),
    settings(
        "{remote: [{broker: \"mqtt://hub\", bridge: \"a\"}, {broker: \"mqtts://hub\", bridge: \"a\"}]}",
        "bridge \"a\" is twice in remote; keep one"),
    settings(
        "{replay: {file: \"a.trace\", speed: \"fast\"}}",
        "replay.speed must be a number from 0.01 to 1000, or \"max\"; got \"fast\""),
    settings("{log: 5}", "log must be an object, {…}; got 5"),
    settings(
        "{timers: {budget: \"99999999999d\"}}",
        "timers.budget must be a duration from 100ms to 1d, such as \"10s\" or \"250ms\"; got \"99999999999d\""),
]

let brokenProfiles: [ConfigurationFault] = [
    profile(
        "{}",
        "name is missing\nDevices/p/profile.json5: title is missing\nDevices/p/profile.json5: mode is missing\nDevices/p/profile.json5: match is missing"
    ),
    profile(
        "{name: \"q\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}}",
        "name must be \"p\", the name of its folder; got \"q\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth\", match: {}}",
        "mode is \"bluetooth\"; did you mean \"bluetooth-central\"?"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {}}",
        "match asks for nothing and would match every device; name one of services, name_prefix, broadcast, properties"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"18 0d\"]}}",
        "match.services[0] must be a Bluetooth UUID such as \"2a37\"; got \"18 0d\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", node: \"none\", match: {services: [\"180d\"]}}",
        "match.services does not fit mode \"external-accessory\"; remove it or change the mode"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, streams: {report: {}}}",
        "a key of streams must be \"serial\", \"input\" or \"report-1\"; got \"report\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, node: \"none\", characteristics: {}}",
        "characteristics does not fit mode \"external-accessory\"; write streams"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, node: \"none\", advertisement: {}}",
        "advertisement does not fit mode \"external-accessory\"; remove it or change the mode"),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {service_data: {x: {fields: []}}}}",
        "a key of advertisement.service_data must be a Bluetooth UUID such as \"181a\"; got \"x\""),
    profile(
        "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, advertisement: {manufacturer_data: {\"499\": {fields: []}}}}",
        "a key of advertisement.manufacturer_data must be a company such as \"0499\", or \"any\"; got \"499\""),
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
        "\(field)[0].type must be one of \"uint8\", \"uint16\", \"uint24\", \"uint32\", \"uint40\", \"uint48\", \"uint56\", \"uint64\", \"sint8\", \"sint16\", \"sint24\", \"sint32\", \"sint48\", \"sint64\", \"sfloat\", \"float\", \"float32\", \"float64\", \"utf8\", \"bytes\", \"uuid\", \"mac\", \"time\", \"bits\", \"ubits\", \"sbits\", \"sum\", \"difference\", \"product\", \"quotient\", \"power\"; got \"int128\""
    ),
    profile(
        fields: "{name: \"heart rate\", type: \"uint8\"}",
        "\(field)[0].name must be up to 64 of the characters a-z, 0-9 and _; got \"heart rate\""),
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
        "\(field)[0].bits.wide must be a bit number or a range such as \"4-6\" below 8; got 8"),
    profile(
        fields: "{name: \"f\", type: \"uint8\", values: {a: \"b\"}}",
        "a key of \(field)[0].values must be a whole number in quotes, such as \"1\"; got \"a\""),
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
        "\(field)[0].scale must be a number that is not 0, or a fraction such as \"1/1024\"; got \"1/0\""),
    profile(
        fields: "{name: \"x\", type: \"utf8\", endian: \"big\"}",
        "\(field)[0].endian does not fit type \"utf8\"; it orders the bytes of numbers"),
    profile(fields: "{name: \"x\", type: \"bits\"}", "\(field)[0].of is missing; it names the bits"),
    profile(
        fields: "{name: \"f\", type: \"uint8\"}, {name: \"x\", type: \"uint8\", if: \"f\", unless: \"f\"}",
        "\(field)[1] has both if and unless; keep one"),
]
