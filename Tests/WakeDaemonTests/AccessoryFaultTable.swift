// Malformed profiles of accessories, each with the exact sentence that a person gets to read.

/// A profile that is whole but for `keys`.
private func accessory(_ keys: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(
        kind: .profile,
        text: "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {properties: {A: \"b\"}}, \(keys)}",
        sentence: "Devices/p/profile.json5: \(sentence)")
}

private func framing(_ keys: String, _ sentence: String) -> ConfigurationFault {
    accessory("node: \"serial\", framing: {\(keys)}", sentence)
}

private func line(_ keys: String, _ sentence: String) -> ConfigurationFault {
    accessory("node: \"serial\", serial: {\(keys)}", sentence)
}

private func peripheral(_ keys: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(
        kind: .profile,
        text: "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, \(keys)}",
        sentence: "Devices/p/profile.json5: \(sentence)")
}

private let untold =
    "node is missing, and no stream tells it; write node: \"serial\", \"hid\" or \"input\", \"rfcomm\" for a serial port "
    + "over Bluetooth, or \"none\" where nothing is to be opened"

/// The same of a serial port over Bluetooth.
private func called(_ match: String, _ keys: String, _ sentence: String) -> ConfigurationFault {
    ConfigurationFault(
        kind: .profile,
        text: "{name: \"p\", title: \"P\", mode: \"external-accessory\", match: {\(match)}, \(keys)}",
        sentence: "Devices/p/profile.json5: \(sentence)")
}

private let brokenCalls: [ConfigurationFault] = [
    called(
        "properties: {A: \"b\"}", "node: \"rfcomm\"",
        "match.properties does not fit node \"rfcomm\"; match by services or name_prefix"),
    called(
        "services: [\"1101\"]", "node: \"serial\"",
        "match.services does not fit mode \"external-accessory\"; remove it or change the mode"),
    called(
        "name_prefx: \"GPS\"", "node: \"rfcomm\"", "unknown key \"name_prefx\" in match; did you mean \"name_prefix\"?"),
    called("properties: {A: \"b\"}", "node: \"rfcom\"", "node is \"rfcom\"; did you mean \"rfcomm\"?"),
    called(
        "name_prefix: \"GPS\"", "node: \"rfcomm\", serial: {baud: 9600}",
        "serial does not fit node \"rfcomm\"; remove it or write node: \"serial\""),
    called(
        "name_prefix: \"GPS\"", "node: \"rfcomm\", sharing: \"shared\"",
        "sharing does not fit node \"rfcomm\", which no other program can open; remove it"),
    called(
        "name_prefix: \"GPS\"", "node: \"rfcomm\", on_suspend: \"detach\"",
        "on_suspend does not fit node \"rfcomm\", which no other program can open; remove it"),
    called(
        "name_prefix: \"GPS\"", "node: \"rfcomm\", streams: {input: {name: \"i\"}}",
        "node is \"rfcomm\", but streams has \"input\", which comes from node \"input\"; change one of the two"),
]

let brokenAccessories: [ConfigurationFault] = brokenCalls + brokenNodes + brokenLines + brokenFramings + brokenStreams

private let brokenNodes: [ConfigurationFault] = [
    accessory("", untold),
    accessory("streams: {}", untold),
    accessory("serial: {baud: 9600}", untold),
    accessory("node: \"seriel\"", "node is \"seriel\"; did you mean \"serial\"?"),
    accessory("node: \"usb\"", "node must be one of \"serial\", \"rfcomm\", \"hid\", \"input\", \"none\"; got \"usb\""),
    accessory(
        "node: \"hid\", streams: {serial: {name: \"s\"}}",
        "node is \"hid\", but streams has \"serial\", which comes from node \"serial\"; change one of the two"),
    accessory(
        "node: \"none\", streams: {\"report-1\": {name: \"s\"}}",
        "node is \"none\", but streams has \"report-1\", which comes from node \"hid\"; change one of the two"),
    accessory(
        "streams: {serial: {name: \"s\"}, input: {name: \"i\"}}",
        "streams has \"input\" and \"serial\", which come from different nodes; keep those of one node, and write a "
            + "second profile for the other"),
    accessory(
        "node: \"hid\", framing: {kind: \"line\"}",
        "framing does not fit node \"hid\"; remove it or write node: \"serial\""),
    accessory(
        "streams: {input: {name: \"i\"}}, serial: {}",
        "serial does not fit node \"input\"; remove it or write node: \"serial\""),
    accessory(
        "node: \"none\", sharing: \"shared\"",
        "sharing does not fit node \"none\", of which nothing is opened; remove it"),
    accessory(
        "node: \"none\", on_suspend: \"detach\"",
        "on_suspend does not fit node \"none\", of which nothing is opened; remove it"),
    accessory("node: \"hid\", sharing: \"exclusiv\"", "sharing is \"exclusiv\"; did you mean \"exclusive\"?"),
    accessory("node: \"hid\", on_suspend: \"close\"", "on_suspend must be one of \"keep\", \"detach\"; got \"close\""),
    accessory(
        "node: \"hid\", settle: 1",
        "settle must be a duration from 0s to 1m, such as \"10s\" or \"250ms\"; got 1"),
    accessory(
        "node: \"hid\", replug_grace: \"2m\"",
        "replug_grace must be a duration from 0s to 1m, such as \"10s\" or \"250ms\"; got \"2m\""),
    accessory("node: \"hid\", replug_grac: \"2s\"", "unknown key \"replug_grac\"; did you mean \"replug_grace\"?"),
    accessory(
        "node: \"hid\", notify: [\"2a37\"]",
        "notify does not fit mode \"external-accessory\"; remove it or change the mode"),
    peripheral("node: \"hid\"", "node does not fit mode \"bluetooth-central\"; remove it or change the mode"),
    peripheral("framing: {}", "framing does not fit mode \"bluetooth-central\"; remove it or change the mode"),
]

private let brokenLines: [ConfigurationFault] = [
    line("baud: 0", "serial.baud must be a whole number from 50 to 12000000; got 0"),
    line("baud: \"9600\"", "serial.baud must be a whole number from 50 to 12000000; got \"9600\""),
    line("data_bits: 9", "serial.data_bits must be a whole number from 5 to 8; got 9"),
    line("parity: \"evn\"", "serial.parity is \"evn\"; did you mean \"even\"?"),
    line("stop_bits: 1.5", "serial.stop_bits must be a whole number from 1 to 2; got 1.5"),
    line("flow: \"rtscts\"", "serial.flow must be one of \"none\", \"hardware\", \"software\"; got \"rtscts\""),
    line("dtr: true", "serial.dtr must be one of \"untouched\", \"high\", \"low\"; got true"),
    line(
        "baudrate: 9600",
        "unknown key \"baudrate\" in serial; known keys are "
            + "baud, data_bits, parity, stop_bits, flow, dtr, rts"),
    line(
        "flow: \"hardware\", rts: \"low\"",
        "serial.rts does not fit flow \"hardware\", which moves RTS by itself; remove one of the two"),
]

private let brokenFramings: [ConfigurationFault] = [
    framing("", "framing.kind is missing"),
    framing("kind: \"lines\"", "framing.kind is \"lines\"; did you mean \"line\"?"),
    framing("kind: \"length_prefix\", size: 1", "framing.kind is \"length_prefix\"; did you mean \"length-prefix\"?"),
    framing(
        "kind: \"line\", delimiter: \"0a\"",
        "framing.delimiter does not fit kind \"line\"; it belongs to \"delimiter\""),
    framing(
        "kind: \"fixed\", length: 4, limit: 8",
        "framing.limit does not fit kind \"fixed\"; it belongs to \"none\", \"line\", \"delimiter\", \"length-prefix\", "
            + "\"idle\", \"slip\", \"cobs\", \"hdlc\""),
    framing("kind: \"delimiter\"", "framing.delimiter is missing; kind \"delimiter\" needs it"),
    framing("kind: \"length-prefix\"", "framing.size is missing; kind \"length-prefix\" needs it"),
    framing("kind: \"fixed\"", "framing.length is missing; kind \"fixed\" needs it"),
    framing("kind: \"idle\"", "framing.gap is missing; kind \"idle\" needs it"),
    framing(
        "kind: \"delimiter\", delimiter: \"0d0\"",
        "framing.delimiter must be 1 to 16 bytes in hexadecimal, such as \"0d0a\"; got \"0d0\""),
    framing(
        "kind: \"delimiter\", delimiter: \"\"",
        "framing.delimiter must be 1 to 16 bytes in hexadecimal, such as \"0d0a\"; got \"\""),
    framing("kind: \"length-prefix\", size: 3", "framing.size must be 1, 2 or 4; got 3"),
    framing(
        "kind: \"length-prefix\", start: \"aa55\", offset: 1, size: 1",
        "framing.offset must be a whole number from 2 to 64; got 1"),
    framing(
        "kind: \"length-prefix\", size: 1, endian: \"network\"",
        "framing.endian must be one of \"little\", \"big\"; got \"network\""),
    framing(
        "kind: \"length-prefix\", size: 1, extra: -1", "framing.extra must be a whole number from 0 to 1024; got -1"),
    framing(
        "kind: \"length-prefix\", offset: 8, size: 2, limit: 9",
        "framing.limit must be at least 10, the end of the length; got 9"),
    framing("kind: \"fixed\", length: 0", "framing.length must be a whole number from 1 to 16384; got 0"),
    framing("kind: \"slip\", limit: \"4KiB\"", "framing.limit must be a whole number from 1 to 16384; got \"4KiB\""),
    framing(
        "kind: \"idle\", gap: \"0\"",
        "framing.gap must be a duration from 1ms to 1m, such as \"10s\" or \"250ms\"; got \"0\""),
    framing(
        "kind: \"line\", limt: 80",
        "unknown key \"limt\" in framing; did you mean \"limit\"?"),
]

private let brokenStreams: [ConfigurationFault] = [
    accessory("streams: {serial: {}}", "streams.serial.name is missing"),
    accessory(
        "streams: {serial: {name: \"s\", check: \"crc16\"}}",
        "streams.serial.check is \"crc16\"; did you mean \"crc16-ccitt\"?"),
    accessory(
        "streams: {serial: {name: \"s\", check: \"fletcher\"}}",
        "streams.serial.check is \"fletcher\"; did you mean \"fletcher8\"?"),
    accessory(
        "streams: {input: {name: \"s\", check: \"sum8\"}}",
        "streams.input.check does not fit input events, which carry none; remove it"),
    accessory(
        "streams: {\"report-007\": {name: \"s\"}}",
        "a key of streams must be \"serial\", \"input\" or \"report-1\"; got \"report-007\""),
]
