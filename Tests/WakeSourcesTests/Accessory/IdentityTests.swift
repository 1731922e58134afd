// Who an accessory is, out of what udev says of its nodes.
import Testing
import WakeSources
import WakeSystem

private func source(_ path: String, _ subsystem: String = "tty", _ properties: [String: String] = [:]) -> String? {
    AccessoryIdentity(device(path, subsystem, properties))?.uri
}

@Suite("Who an accessory is")
struct IdentityTests {
    @Test("a USB device is its vendor, product, serial number and interface; without a serial number its port")
    func usbDevice() {
        #expect(source(uno, "tty", usb("2341", "0043", serial: "75833353035")) == "/accessory/2341:0043:75833353035:00")
        #expect(source(uno, "tty", usb("1A86", "7523")) == "/accessory/1a86:7523:@0000-00-14.0-usb-8.2:00")
        let whole = "/sys/devices/pci0000:00/0000:00:14.0/usb3/3-8/3-8.2"
        #expect(
            source(whole, "usb", usb("1a86", "7523", interface: nil)) == "/accessory/1a86:7523:@0000-00-14.0-usb-8.2")
    }

    @Test("serial numbers that number nothing do not count: empty ones, blanks and zeros")
    func emptySerial() {
        for serial in ["", "  ", "0", "000000000000000", "0-0"] {
            #expect(AccessoryIdentity(device(uno, "tty", usb("28bd", "0202", serial: serial)))?.serial == nil)
        }
        #expect(AccessoryIdentity(device(uno, "tty", usb("28bd", "0202", serial: "0001")))?.serial == "0001")
        #expect(AccessoryIdentity(device(uno, "tty", usb("28bd", "0202", serial: " A  1 ")))?.serial == "A_1")
    }

    @Test("the port is the same for all nodes of an interface, and for every number that the bus may get")
    func port() {
        let properties = usb("05f3", "0007")
        let hub = "/sys/devices/pci0000:00/0000:00:1a.0/usb"
        let paths = ["1/1-1/1-1.5/1-1.5:1.0/tty/ttyACM0", "1/1-1/1-1.5/1-1.5:1.0/0003:05F3:0007.0001/hidraw/hidraw0"]
        let sources = (paths + ["7/7-1/7-1.5/7-1.5:1.0/ttyUSB3/tty/ttyUSB3"]).map {
            source(hub + $0, "tty", properties)
        }
        #expect(Set(sources) == ["/accessory/05f3:0007:@0000-00-1a.0-usb-1.5:00"])
        let other = source("/sys/devices/platform/dummy_hcd.1/usb2/2-1/2-1:1.0/tty/ttyACM1", "tty", properties)
        #expect(other == "/accessory/05f3:0007:@dummy_hcd.1-usb-1:00")
    }

    @Test("the lines of one interface are told apart")
    func severalLines() {
        var properties = usb("9710", "7840")
        properties["USB_SERIAL_PORT"] = "0"
        #expect(source(uno, "tty", properties)?.hasSuffix(":00") == true)
        properties["USB_SERIAL_PORT"] = "2"
        #expect(source(uno, "tty", properties)?.hasSuffix(":00.2") == true)
    }

    @Test("what stands behind a radio receiver is itself, and not the receiver")
    func receiver() {
        var properties = usb("046d", "c52b", serial: "R1", interface: "02")
        properties["HID_ID"] = "0003:0000046D:0000C52B"
        #expect(source(uno, "hidraw", properties) == "/accessory/046d:c52b:R1:02")
        properties["HID_ID"] = "0003:0000046D:00004024"
        properties["HID_UNIQ"] = "4024-af-3c"
        #expect(source(uno, "hidraw", properties) == "/accessory/046d:4024:4024-af-3c:02")
        properties["HID_UNIQ"] = ""
        #expect(source(uno, "hidraw", properties) == "/accessory/046d:4024:@0000-00-14.0-usb-8.2:02")
    }

    @Test("a Bluetooth keyboard is its address, under whatever number it comes back")
    func bluetooth() {
        let properties = [
            "HID_ID": "0005:0000046D:0000B342", "HID_UNIQ": "d4:3c:11:22:33:44", "HID_PHYS": "00:1a:7d:da:71:13",
        ]
        let sources = (1...2).map {
            source(
                "/sys/devices/virtual/misc/uhid/0005:046D:B342.000\($0)/input/input3\($0)/event\($0)", "input",
                properties)
        }
        #expect(Set(sources) == ["/accessory/046d:b342:d4-3c-11-22-33-44"])
        let nameless = properties.filter { $0.key == "HID_ID" }
        let path = "/sys/devices/virtual/misc/uhid/0005:046D:B342.0009/hidraw/hidraw4"
        #expect(source(path, "hidraw", nameless) == "/accessory/046d:b342:@uhid")
    }

    @Test("a part of the machine is its name and its place, in old kernels and new ones")
    func platform() {
        let board = "/sys/devices/platform/soc"
        let old = source("\(board)/fe201000.serial/tty/ttyAMA0")
        let new = source("\(board)/fe201000.serial/fe201000.serial:0/fe201000.serial:0.0/tty/ttyAMA0")
        #expect(old == "/accessory/platform:ttyAMA0:@fe201000.serial" && new == old)
        let keys = ["NAME": "\"gpio keys\"", "PRODUCT": "19/1/1/100", "PHYS": "\"gpio-keys/input0\""]
        #expect(
            source("/sys/devices/platform/gpio-keys/input/input0/event5", "input", keys)
                == "/accessory/platform:gpio_keys:@gpio-keys")
        #expect(source("\(board)/i2c-1/1-0076/iio:device0", "iio") == "/accessory/platform:iio-device0:@1-0076")
        #expect(source("/sys/devices/virtual/tty/rfcomm0") == "/accessory/platform:rfcomm0:@rfcomm")
        let pad = ["NAME": "\"A pad\"", "PRODUCT": "6/1234/5678/1", "UNIQ": "\"\""]
        #expect(
            source("/sys/devices/virtual/input/input9/event9", "input", pad) == "/accessory/1234:5678:@virtual")
    }

    @Test("of a USB device that is half gone nothing is made up")
    func halfGone() {
        #expect(source(uno) == nil)
    }

    @Test("whatever a device says, its source is one word of plain characters, and stays short")
    func plainCharacters() throws {
        let wild = try #require(source(uno, "tty", usb("2341", "0043", serial: "a/b:c d\u{7}é\u{FFFD}@%")))
        #expect(wild == "/accessory/2341:0043:a_b-c_d_____:00")
        let long = String(repeating: "A", count: 3_000)
        let two = [long, long + "B"].map { source(uno, "tty", usb("2341", "0043", serial: $0)) }
        #expect(two[0] != two[1])
        for source in two { #expect((source?.utf8.count ?? 999) < 100) }
    }
}
