# A small org.bluez with its behaviour in a JSON file, for the verbs that scan, pair, forget and list. Prints every call.
import json
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

ADAPTER, DEVICE, BATTERY = "org.bluez.Adapter1", "org.bluez.Device1", "org.bluez.Battery1"
PROPERTIES, OBJECTS = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"


def say(*words):
    print(*words, flush=True)


class Refusal(dbus.DBusException):
    def __init__(self, name, text=""):
        super().__init__(text)
        self._dbus_error_name = "org.bluez.Error." + name


class Thing(dbus.service.Object):
    """An object with properties, announced when it is published."""

    def __init__(self, path, properties):
        self.path, self.properties, self.published = path, properties, False
        super().__init__(bus, path)

    def publish(self):
        self.published = True
        root.InterfacesAdded(self.path, self.properties)

    def change(self, interface=DEVICE, **values):
        known = self.properties[interface]
        new = {key: type(known.get(key, value))(value) for key, value in values.items()}
        known.update(new)
        if self.published:
            self.PropertiesChanged(interface, new, [])

    def invalidate(self, name):
        if self.properties[DEVICE].pop(name, None) is not None:
            self.PropertiesChanged(DEVICE, {}, [name])

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties[interface][name]

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        say("Set", self.path, name, value)
        if name == "Alias" and not value:
            value = self.properties[interface].get("Name", "")
        self.change(interface, **{str(name): value})


class Part(Thing):
    """A service or a characteristic, there for as long as its device is."""

    def __init__(self, path, interface, uuid, **values):
        self.interface = interface
        super().__init__(path, {interface: {"UUID": f"0000{uuid}-0000-1000-8000-00805f9b34fb", **values}})
        self.published = True


class Root(dbus.service.Object):
    @dbus.service.signal(OBJECTS, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass

    @dbus.service.signal(OBJECTS, signature="oas")
    def InterfacesRemoved(self, path, interfaces):
        pass

    @dbus.service.method(OBJECTS, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        parts = [part for device in devices for part in device.parts]
        return {thing.path: thing.properties for thing in adapters + devices + parts if thing.published}


class Agents(dbus.service.Object):
    sender = path = None

    @dbus.service.method("org.bluez.AgentManager1", in_signature="os", sender_keyword="sender")
    def RegisterAgent(self, path, capability, sender=None):
        say("RegisterAgent", capability)
        self.sender, self.path = sender, path

    @dbus.service.method("org.bluez.AgentManager1", in_signature="o")
    def RequestDefaultAgent(self, path):
        say("RequestDefaultAgent")

    @dbus.service.method("org.bluez.AgentManager1", in_signature="o")
    def UnregisterAgent(self, path):
        say("UnregisterAgent")

    def ask(self, member, signature, arguments, answer, refuse):
        bus.call_async(self.sender, self.path, "org.bluez.Agent1", member, signature, arguments, answer, refuse)


class Adapter(Thing):
    def __init__(self, plan):
        self.plan, self.scans, self.lost = plan, 0, None
        address = plan.get("address", "00:1A:7D:DA:71:13")
        values = {"Address": address, "Powered": plan.get("powered", True), "Discovering": False}
        if "powerState" in plan:
            values["PowerState"] = plan["powerState"]
        super().__init__("/org/bluez/" + plan.get("name", "hci0"), {ADAPTER: values})

    @dbus.service.method(ADAPTER, in_signature="a{sv}")
    def SetDiscoveryFilter(self, filter):
        if not filter:
            return  # It is taken back.
        say("SetDiscoveryFilter", *sorted(f"{key}={filter[key]}" for key in filter if key != "UUIDs"))
        say("UUIDs", *[str(uuid)[4:8] for uuid in filter.get("UUIDs", [])])

    @dbus.service.method(ADAPTER, sender_keyword="sender")
    def StartDiscovery(self, sender):
        self.scans += 1
        say("StartDiscovery")
        if self.plan.get("loses"):
            # The first connection's answer, so that it is refused for ever.
            self.lost = self.lost or sender
        if sender == self.lost or self.scans <= self.plan.get("busy", 0):
            raise Refusal("InProgress", "Operation already in progress")
        if self.scans <= self.plan.get("hollow", 0):
            return  # The end of another program's scan was answered to us.
        GLib.timeout_add(self.plan.get("announces", 0), lambda: self.change(ADAPTER, Discovering=True))
        self.properties[ADAPTER]["Discovering"] = dbus.Boolean(True)
        for device in devices:
            if device.path.startswith(self.path + "/"):
                GLib.timeout_add(device.plan.get("after", 50), device.advertise)
        for after, values in self.plan.pop("then", []):
            GLib.timeout_add(after, lambda values=values: self.change(ADAPTER, **values))
        if "dies" in self.plan:
            GLib.timeout_add(self.plan["dies"], os._exit, 1)

    @dbus.service.method(ADAPTER)
    def StopDiscovery(self):
        say("StopDiscovery")
        if not self.properties[ADAPTER]["Discovering"]:
            raise Refusal("Failed", "No discovery started")
        self.change(ADAPTER, Discovering=False)
        for device in devices:
            if device.published:
                device.invalidate("RSSI")
            GLib.timeout_add(world.get("temporary", 30_000), device.drop)

    @dbus.service.method(ADAPTER, in_signature="o")
    def RemoveDevice(self, path):
        say("RemoveDevice", path)
        device = next((one for one in devices if one.path == path and one.published), None)
        if device is None:
            raise Refusal("DoesNotExist", "Does Not Exist")
        device.change(Paired=False, Trusted=False, Connected=False, ServicesResolved=False)
        if not world.get("old"):
            device.change(Bonded=False)
        device.withdraw()


class Device(Thing):
    def __init__(self, plan):
        self.plan = plan
        path = f"/org/bluez/{plan.get('adapter', 'hci0')}"
        name, address = plan.get("name"), plan["address"]
        values = {
            "Address": address, "AddressType": plan.get("type", "random"), "Adapter": dbus.ObjectPath(path),
            "Alias": plan.get("alias", name or address.replace(":", "-")),
            "UUIDs": dbus.Array([f"0000{uuid}-0000-1000-8000-00805f9b34fb" for uuid in plan.get("uuids", [])], "s"),
            "Paired": plan.get("bonded", False), "Bonded": plan.get("bonded", False),
            "Trusted": plan.get("trusted", False), "Blocked": False,
            "Connected": plan.get("connected", False), "ServicesResolved": plan.get("connected", False),
        }
        if name is not None:
            values["Name"] = name
        if "maker" in plan:
            values["ManufacturerData"] = dbus.Dictionary(
                {dbus.UInt16(plan.get("company", 76)): dbus.Array(bytes.fromhex(plan["maker"]), "y", variant_level=1)}, "qv")
        if "service_data" in plan:
            values["ServiceData"] = dbus.Dictionary(
                {f"0000{uuid}-0000-1000-8000-00805f9b34fb": dbus.Array(bytes.fromhex(data), "y", variant_level=1)
                 for uuid, data in plan["service_data"].items()}, "sv")
        if world.get("old"):
            del values["Bonded"]
        interfaces = {DEVICE: values}
        if "battery" in plan:
            interfaces = {BATTERY: {"Percentage": dbus.Byte(plan["battery"])}, DEVICE: values}
        super().__init__(path + "/dev_" + address.replace(":", "_"), interfaces)

        self.parts = [part for place in enumerate(plan.get("services", {}).items()) for part in self.service(*place)]

        # What was only heard is dropped, with its trust, some time after it was heard last (device.c, temporary).
        self.temporary = not (plan.get("bonded") or plan.get("trusted") or plan.get("known"))

    def service(self, number, plan):
        """Of a UUID, and what each characteristic in it can do."""
        uuid, inside = plan
        path = f"{self.path}/service{number:04x}"
        yield Part(path, "org.bluez.GattService1", uuid)
        for place, (characteristic, flags) in enumerate(inside.items()):
            yield Part(
                f"{path}/char{place:04x}", "org.bluez.GattCharacteristic1", characteristic, Flags=dbus.Array(flags, "s"))

    def withdraw(self):
        self.published, self.temporary = False, True
        root.InterfacesRemoved(self.path, [DEVICE])

    @property
    def is_listened_for(self):
        return any(one.properties[ADAPTER]["Discovering"] for one in adapters if self.path.startswith(one.path + "/"))

    def drop(self):
        if self.published and self.temporary and not self.is_listened_for:
            say("drop", self.path)
            self.change(Trusted=False)
            self.withdraw()
        return False

    def advertise(self):
        if self.plan.get("absent"):
            return False
        signal = dbus.Int16(self.plan.get("signal", -60))
        self.properties[DEVICE]["RSSI"] = signal
        self.change(RSSI=signal) if self.published else self.publish()
        if self.plan.get("restless"):
            # Each advertisement tells something else.
            said = self.plan["said"] = self.plan.get("said", 0) + 1
            data = dbus.Dictionary({dbus.UInt16(76): dbus.Array([said], "y", variant_level=1)}, "qv")
            self.change(ManufacturerData=data)
            if said == 3 and "late" in self.plan:
                self.change(Name=self.plan["late"], Alias=self.plan["late"])
            return self.is_listened_for
        return False

    @dbus.service.method(DEVICE, async_callbacks=("answer", "refuse"))
    def Connect(self, answer, refuse):
        say("Connect")
        self.temporary = False
        breaks = self.plan.get("breaks", 0)
        self.plan["breaks"] = breaks - 1
        if breaks > 0:
            return refuse(Refusal("Failed", "le-connection-abort-by-local"))
        if self.plan.get("absent"):
            return None
        if self.plan.get("kills"):
            os._exit(1)
        self.change(Connected=True)
        answer()
        if self.plan.get("forgot"):
            return GLib.timeout_add(50, lambda: self.change(Connected=False))
        GLib.timeout_add(100, lambda: self.change(ServicesResolved=True))

    @dbus.service.method(DEVICE)
    def Disconnect(self):
        say("Disconnect")
        self.change(Connected=False, ServicesResolved=False)

    @dbus.service.method(DEVICE)
    def CancelPairing(self):
        say("CancelPairing")

    @dbus.service.method(DEVICE, async_callbacks=("answer", "refuse"))
    def Pair(self, answer, refuse):
        say("Pair", "resolved" if self.properties[DEVICE]["ServicesResolved"] else "unresolved")

        self.temporary = False

        def bond(*_):
            bonds = {} if world.get("old") else {"Bonded": self.plan.get("bonds", True)}
            self.change(Paired=True, **bonds)
            if not self.plan.get("silent"):
                answer()

        def fail(*_):
            refuse(Refusal("AuthenticationFailed", "Authentication Failed"))

        passkey = self.plan.get("passkey", 123456)
        me, number = dbus.ObjectPath(self.path), dbus.UInt32(passkey)
        way = self.plan.get("pairing", "just works")
        if way == "enter":
            agents.ask("RequestPasskey", "o", [me], lambda typed: (bond if typed == passkey else fail)(), fail)
        elif way == "compare":
            agents.ask("RequestConfirmation", "ou", [me, number], bond, fail)
        elif way == "display":
            shown = [me, number, dbus.UInt16(0)]
            agents.ask("DisplayPasskey", "ouq", shown, lambda: GLib.timeout_add(100, bond), fail)
        elif way == "another":
            other = dbus.ObjectPath("/org/bluez/hci0/dev_00_00_00_00_00_00")
            agents.ask("RequestAuthorization", "o", [other], fail, lambda error: (say(error), bond()))
        elif way == "service":
            wanted = [me, "00001812-0000-1000-8000-00805f9b34fb"]
            agents.ask("AuthorizeService", "os", wanted, fail, lambda error: (say(error), bond()))
        else:
            bond() if way == "just works" else fail()


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
world = json.load(open(sys.argv[1]))
bus = dbus.SystemBus()
root, agents = Root(bus, "/"), Agents(bus, "/org/bluez")
adapters = [Adapter(plan) for plan in world.get("adapters", [{}])]
devices = [Device(plan) for plan in world.get("devices", [])]
for thing in adapters:
    thing.published = True
for thing in devices:
    thing.published = not thing.temporary
name = dbus.service.BusName("org.bluez", bus)
GLib.MainLoop().run()
