// Names of devices in captures, as peripherals send them.
import Testing
import WakeModel

@testable import WakeCapture

@Suite("Names in captures")
struct DeviceNameTests {
    private func name(of advertisements: String...) throws -> String? {
        var device = DraftDevice.bystander
        for text in advertisements { device.advertise(try #require([UInt8](hexadecimal: text))[...]) }
        return device.facts.name
    }

    @Test("a name that was cut within a character keeps what is valid of it, whole or shortened")
    func cut() throws {
        #expect(try name(of: "020106" + "0809" + "54c3bc72656ec3") == "Türen")
        #expect(try name(of: "020106" + "0708" + "4bc3bc6368c3") == "Küch")
        #expect(try name(of: "0809" + "54c3bc72656ec3", "0708" + "4bc3bc6368c3") == "Türen")
    }

    @Test("a name whose structure goes beyond the data keeps what is there")
    func beyond() throws {
        #expect(try name(of: "020106" + "0909" + "54c3bc72656ec3", "0708" + "4bc3bc6368c3") == "Türen")
        #expect(try name(of: "05030f180a") == nil)
    }

    @Test("a name of which nothing is valid is none, and one with a zero ends there")
    func none() throws {
        #expect(try name(of: "0309c3ff") == nil)
        #expect(try name(of: "0509" + "41420043") == "AB")
    }
}
