"""An org.bluez that says what the benchmark has it say: the beats of a strap, and what sensors broadcast.

    bluetoothd.py SENSORS     the bus is DBUS_SYSTEM_BUS_ADDRESS

Descriptor 0 is a socket: one command a line, one answer a line. Signals are as bluetoothd's: one PropertiesChanged for
what changed in a turn, and of an advertisement only what is not as it was.
"""
import asyncio
import os
import socket
import sys
import time

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER, DEVICE = "/org/bluez/hci99", "org.bluez.Device1"
STRAP, SERVICE = ADAPTER + "/dev_C0_F1_F2_F3_F4_01", "/service000e"
HEART = STRAP + SERVICE + "/char000f"
PROPERTIES, OBJECTS = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
TURN = 1.0  # seconds: so often each of the sensors broadcasts
# An answer is written so long after its command: whoever is measured has had the beat by then.
APART = 0.005


def uuid(short):
    return f"0000{short}-0000-1000-8000-00805f9b34fb"


def device(address, **more):
    facts = {"Address": Variant("s", address), "AddressType": Variant("s", "random"),
             "Alias": Variant("s", address.replace(":", "-")), "Adapter": Variant("o", ADAPTER),
             "UUIDs": Variant("as", []), "Blocked": Variant("b", False), "LegacyPairing": Variant("b", False)}
    flags = {name: Variant("b", False) for name in ("Paired", "Bonded", "Trusted", "Connected", "ServicesResolved")}
    return {**facts, **flags, **more}


def strap():
    """Bonded, connected and known in full, as who listens to it finds it."""
    yes = {name: Variant("b", True) for name in ("Paired", "Bonded", "Trusted", "Connected", "ServicesResolved")}
    facts = device("C0:F1:F2:F3:F4:01", Name=Variant("s", "Strap"), **yes)
    facts["UUIDs"], facts["Alias"] = Variant("as", [uuid("180d")]), Variant("s", "Strap")
    return {
        STRAP: {DEVICE: facts},
        STRAP + SERVICE: {"org.bluez.GattService1": {
            "UUID": Variant("s", uuid("180d")), "Device": Variant("o", STRAP), "Primary": Variant("b", True)}},
        HEART: {"org.bluez.GattCharacteristic1": {
            "UUID": Variant("s", uuid("2a37")), "Service": Variant("o", STRAP + SERVICE),
            "Flags": Variant("as", ["notify"]), "Notifying": Variant("b", False), "MTU": Variant("q", 247)}},
        HEART + "/desc0011": {"org.bluez.GattDescriptor1": {
            "UUID": Variant("s", uuid("2902")), "Characteristic": Variant("o", HEART)}},
    }


class Sensor:
    """Every other is a RuuviTag (data format 5), and every other a thermometer that speaks BTHome 2; all count."""

    def __init__(self, number):
        self.number = number
        self.address = f"C0:AA:00:00:{number >> 8:02X}:{number & 255:02X}"
        self.path = ADAPTER + "/dev_" + self.address.replace(":", "_")
        self.count = 0

    def advertise(self):
        """What changed with its next advertisement."""
        self.count += 1
        if self.number % 2 == 0:
            data = bytes.fromhex("0512fc5394c37c0004fffc040cac3642") + (self.count & 0xFFFF).to_bytes(2, "big")
            found = Variant("a{qv}", {0x0499: Variant("ay", data + bytes.fromhex(self.address.replace(":", "")))})
            changed = {"ManufacturerData": found}
        else:
            data = bytes((0x40, 0x00, self.count & 255, 0x02, 0xCA, 0x09, 0x03, 0xBF, 0x13))
            changed = {"ServiceData": Variant("a{sv}", {uuid("fcd2"): Variant("ay", data)})}
        # The signal of one that lies still is another one as a rule.
        return {"RSSI": Variant("n", -60 - self.count % 3), **changed}


class Bluetoothd:
    def __init__(self, bus, count):
        self.bus = bus
        self.sensors = [Sensor(number) for number in range(count)]
        self.objects = {
            ADAPTER: {"org.bluez.Adapter1": {
                "Address": Variant("s", "00:AA:00:00:00:01"), "Powered": Variant("b", True),
                "Discovering": Variant("b", False), "Roles": Variant("as", ["central", "peripheral"])},
                "org.bluez.AdvertisementMonitorManager1": {
                    "SupportedMonitorTypes": Variant("as", ["or_patterns"])}},
            **(strap() if count == 0 else {}),
        }
        # Who listens to the strap; to broadcasts, by a scan or by a monitor, which is told of each that is found.
        self.listeners, self.scanners, self.monitors = set(), set(), {}
        self.heard = 0
        self.is_broadcasting = False

    # What is asked of it on the bus.

    def hear(self, message):
        if message.message_type != MessageType.METHOD_CALL or message.interface == "org.freedesktop.DBus.Peer":
            return None
        answer = getattr(self, message.member, None) if message.member in self.METHODS else None
        if answer is None:
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", message.member)
        signature, body = answer(message) or ("", [])
        return Message.new_method_return(message, signature, body)

    METHODS = {"GetManagedObjects", "Get", "Set", "StartNotify", "StopNotify", "ReadValue", "RegisterApplication",
               "RegisterProfile", "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery", "RegisterMonitor",
               "UnregisterMonitor"}

    def GetManagedObjects(self, message):
        return "a{oa{sa{sv}}}", [self.objects]

    def Get(self, message):
        interface, name = message.body
        return "v", [self.objects[message.path][interface][name]]

    def Set(self, message):
        interface, name, value = message.body
        self.change(message.path, interface, {name: value})

    def StartNotify(self, message):
        self.listeners.add(message.sender)
        self.change(HEART, "org.bluez.GattCharacteristic1", {"Notifying": Variant("b", True)})

    def StopNotify(self, message):
        self.listeners.discard(message.sender)

    def ReadValue(self, message):
        return "ay", [bytes((1, 0))]

    def RegisterApplication(self, message):
        pass

    def RegisterProfile(self, message):
        pass

    def SetDiscoveryFilter(self, message):
        pass

    def StartDiscovery(self, message):
        self.scanners.add(message.sender)
        self.change(ADAPTER, "org.bluez.Adapter1", {"Discovering": Variant("b", True)})

    def StopDiscovery(self, message):
        self.scanners.discard(message.sender)

    def RegisterMonitor(self, message):
        asyncio.get_running_loop().create_task(self.activate(message.sender, message.body[0]))

    def UnregisterMonitor(self, message):
        self.monitors.pop(message.sender, None)

    async def activate(self, owner, root):
        reply = await self.bus.call(Message(
            destination=owner, path=root, interface=OBJECTS, member="GetManagedObjects"))
        for path, interfaces in reply.body[0].items():
            if "org.bluez.AdvertisementMonitor1" in interfaces:
                self.tell_monitor(owner, path, "Activate", "", [])
                self.monitors[owner] = path

    def tell_monitor(self, owner, path, member, signature, body):
        self.bus.send(Message(
            destination=owner, path=path, interface="org.bluez.AdvertisementMonitor1", member=member,
            signature=signature, body=body))

    # What it says.

    def change(self, path, interface, changed):
        self.objects[path][interface].update(changed)
        self.bus.send(Message.new_signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", [interface, changed, []]))

    def beat(self, number):
        """Says a beat, whose interval is its number; returns when it began to."""
        value = bytes((0x16, 0x3C)) + int(number).to_bytes(2, "little")
        message = Message.new_signal(
            HEART, PROPERTIES, "PropertiesChanged", "sa{sv}as",
            ["org.bluez.GattCharacteristic1", {"Value": Variant("ay", value)}, []])
        at = time.monotonic_ns()
        self.bus.send(message)
        return at

    def advertise(self, sensor):
        changed = sensor.advertise()
        self.heard += 1
        if sensor.path in self.objects:
            return self.change(sensor.path, DEVICE, changed)
        self.objects[sensor.path] = {DEVICE: device(sensor.address, **changed)}
        self.bus.send(Message.new_signal(
            "/", OBJECTS, "InterfacesAdded", "oa{sa{sv}}", [sensor.path, self.objects[sensor.path]]))
        for owner, path in self.monitors.items():
            self.tell_monitor(owner, path, "DeviceFound", "o", [sensor.path])

    def broadcast(self, begun, number=0):
        """One after the other, evenly, from this instant of the loop on."""
        self.advertise(self.sensors[number % len(self.sensors)])
        due = begun + (number + 1) * TURN / len(self.sensors)
        asyncio.get_running_loop().call_at(due, self.broadcast, begun, number + 1)

    # What it is told: each returns the answer.

    def obey(self, word, *rest):
        if word == "beat":
            return self.beat(*rest)
        if word == "listeners":
            return len(self.listeners)
        if word == "broadcast" and not self.is_broadcasting:
            self.is_broadcasting = True
            self.broadcast(asyncio.get_running_loop().time())
        if word == "scanners":
            return len(self.scanners) + len(self.monitors)
        return self.heard


async def main(count):
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    bluetoothd = Bluetoothd(bus, count)
    bus.add_message_handler(bluetoothd.hear)
    await bus.request_name("org.bluez")
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=os.dup(0)))
    writer.write(b"ready\n")
    while line := await reader.readline():
        answer = f"{bluetoothd.obey(*line.decode().split())}\n".encode()
        asyncio.get_running_loop().call_later(APART, writer.write, answer)

asyncio.run(main(int(sys.argv[1])))
