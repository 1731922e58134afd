// The page of the device library, which is made of the profiles' own titles, so that the two cannot differ.
import DeviceLibrary
import TestBench
import Testing
import WakeModel
import WakeProfiles

@Suite("The page of the device library")
struct LibraryPageTests {
    private static let path = "docs/reference/device-library.md"

    private enum Section: String, CaseIterable {
        case connected = "Bluetooth LE devices that connect"
        case broadcasting = "Bluetooth LE devices that broadcast"
        case serial = "Serial lines"
        case classic = "Serial ports over classic Bluetooth"
        case reports = "HID devices"
        case input = "Keyboards, scanners and other input devices"
        case bare = "Devices of which nothing is opened"

        init(_ head: ProfileHead) {
            switch head.node {
            case .serial: self = .serial
            case .rfcomm: self = .classic
            case .hid: self = .reports
            case .input: self = .input
            case .some(.none): self = .bare
            case nil: self = head.match.broadcasts.isEmpty ? .connected : .broadcasting
            }
        }
    }

    private static var page: String {
        let heads = ShippedLibrary.library.heads.filter { ShippedLibrary.devices.contains($0.name) }
        let sections = Section.allCases.compactMap { section -> String? in
            let rows = heads.filter { Section($0) == section }.map {
                "| [`\($0.name)`](../../Devices/\($0.name)/profile.json5) | \($0.title) |"
            }
            return rows.isEmpty
                ? nil
                : "## \(section.rawValue)\n\n| profile | devices |\n|---|---|\n" + rows.joined(separator: "\n") + "\n"
        }
        return """
            # Device library

            WakeBridge ships \(heads.count) profiles. [Profile keys](profile-keys.md) explains what a profile is, and
            [add a device profile](../how-to/add-a-device-profile.md) how to make one for a device that is not here.

            - Each profile decodes published messages of its devices. The source has them beside it in `vectors.json5`, with who published them. Most were
              never tried with the device itself: if yours sends something else, report it with `wakebridge report`.
            - The daemon opens an accessory of a shipped profile when a manifest watches the profile. Until then other programs have it.
            - `atc-thermometer` does not read the encrypted format of the ATC and pvvx firmwares. Turn encryption off there, or choose BTHome,
              which `bthome-sensor` reads with [the key](decoders.md).
            - Many devices are behind a common USB chip, which does not show the device. A udev rule of yours names the profile then, in
              a file such as `/etc/udev/rules.d/61-gps.rules`:
              `SUBSYSTEM=="tty", ENV{ID_SERIAL_SHORT}=="A50285BI", ENV{WAKEBRIDGE_DEVICE}="gps-receiver"`. Each profile of a serial line can be named.

            <!-- Made from the profiles. LibraryPageTests says how to make it again. -->

            \(sections.joined(separator: "\n"))
            """
    }

    @Test(
        "the page says of the ATC firmware that its encrypted format is not read, and no profile of thermometers takes it"
    )
    func encryptedThermometers() throws {
        #expect(try Document(Self.path).text.contains("`atc-thermometer` does not read the encrypted format"))
        func profile(ofLength count: Int) -> String? {
            let structure = [UInt8(count + 3), 0x16, 0x1a, 0x18] + [UInt8](repeating: 7, count: count)
            let index = ShippedLibrary.library.match(kind: .bluetoothCentral, advertisement: structure)
            return index.map { ShippedLibrary.library.name($0) }
        }
        #expect([13, 15].map(profile) == ["atc-thermometer", "atc-thermometer"])
        #expect([8, 11].map(profile) == [nil, nil])
    }

    @Test("a device with the standard services that the answers list for it gets the profile that they name")
    func standardServices() throws {
        let lines = try Document("docs/faq.md").text.split(separator: "\n")
        let rows = lines.filter { $0.contains("/profile.json5) |") }
        #expect(rows.count >= 8)
        for row in rows {
            let cells = row.split(separator: "|")
            let codes = cells[1].split { "(), ".contains($0) }.filter { $0.allSatisfy(\.isHexDigit) }
            let services = codes.compactMap { BluetoothUUID($0) }
            try #require(!services.isEmpty, "\(row)")
            let index = ShippedLibrary.library.match(kind: .bluetoothCentral, services: services, name: "Any")
            let profile = index.map { ShippedLibrary.library.name($0) }
            #expect(profile.map { cells[2].contains("Devices/\($0)/profile") } == true, "\(row): \(profile ?? "none")")
        }
    }

    @Test("the page lists every profile with its title; if not, a new page is written and the test says where")
    func isTheLibrary() {
        let wanted = Self.page + (Self.page.hasSuffix("\n") ? "" : "\n")
        guard text(of: "\(packageFolder)/\(Self.path)") != wanted else { return }
        put(wanted, at: "\(packageFolder)/.build/device-library.md")
        Issue.record(
            "\(Self.path) is not what the profiles say; to make it again, run: cp .build/device-library.md \(Self.path)"
        )
    }
}
