# An org.bluez on a private bus that does what its stdin says, faults and all: one command a line, one "ok" a line back.
import os
import socket
import sys
import threading

import dbus
import dbus.exceptions
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

DBusGMainLoop(set_as_default=True)
PROPERTIES, OBJECTS = "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.ObjectManager"
ADAPTER, DEVICE = "org.bluez.Adapter1", "org.bluez.Device1"
SERVICE, CHARACTERISTIC = "org.bluez.GattService1", "org.bluez.GattCharacteristic1"
DESCRIPTOR, GATT = "org.bluez.GattDescriptor1", "org.bluez.GattManager1"
HEART_RATE = "0000180d-0000-1000-8000-00805f9b34fb"
MONITORS, MONITOR = "org.bluez.AdvertisementMonitorManager1", "org.bluez.AdvertisementMonitor1"
MANAGER, PROFILE = "org.bluez.ProfileManager1", "org.bluez.Profile1"
ADVERTISING, ADVERTISEMENT = "org.bluez.LEAdvertisingManager1", "org.bluez.LEAdvertisement1"
SERIAL_PORT = "00001101-0000-1000-8000-00805f9b34fb"

objects = {}  # path -> Thing: what is on the bus
faults = {}  # member -> [fault, how often]: never, progress, failed, notconnected, full, absent, exit, lost
calls = {}  # member -> how often it was called
applications = {}  # (sender, path) -> its objects: the services that other programs serve
advertisements = {}  # (sender, path) -> its properties


def uuids(texts):
    return dbus.Array(texts, signature="s")


class Fault(dbus.exceptions.DBusException):
    def __init__(self, name, text=""):
        super().__init__(text)
        self._dbus_error_name = "org.bluez.Error." + name


def later(milliseconds, body, *arguments):
    GLib.timeout_add(max(milliseconds, 1), lambda: body(*arguments) and False)


def meet_fault(member):
    """True where the call shall never be answered."""
    calls[member] = calls.get(member, 0) + 1
    fault, count = faults.get(member, ("", 0))
    if count == 0:
        return False
    faults[member] = [fault, count - 1]
    if fault == "exit":
        os._exit(11)
    if fault == "progress":
        raise Fault("InProgress", "Operation already in progress")
    if fault == "failed":
        raise Fault("Failed", "it was told to fail")
    if fault == "full":
        raise Fault("Failed", "le-connection-concurrent-connection-limit")
    if fault == "absent":
        raise Fault("Failed", "br-connection-page-timeout")
    if fault == "exists":
        raise Fault("AlreadyExists", "Already Exists")
    if fault == "notpermitted":
        raise Fault("NotPermitted", "Maximum advertisements reached")
    if fault == "notconnected":
        raise Fault("Failed", "Not connected")
    return True


class Thing(dbus.service.Object):
    def __init__(self, path, interface, **properties):
        super().__init__()
        self.path, self.interface, self.properties, self.isOffered = path, interface, properties, False
        self.others = {}

    def offer(self):
        if self.isOffered:
            return
        self.isOffered = True
        objects[self.path] = self
        self.add_to_connection(bus, self.path)
        root.InterfacesAdded(self.path, {self.interface: self.properties, **getattr(self, "others", {})})

    def withdraw(self):
        if not self.isOffered:
            return
        self.isOffered = False
        del objects[self.path]
        self.remove_from_connection(bus, self.path)
        root.InterfacesRemoved(self.path, [self.interface])

    def set(self, **properties):
        self.properties.update(properties)
        if self.isOffered:
            self.PropertiesChanged(self.interface, properties, [])

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v", async_callbacks=("answer", "refuse"))
    def Get(self, interface, name, answer, refuse):
        if not meet_fault("Get"):
            answer(self.properties[name])

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        meet_fault("Set")
        self.set(**{name: value})

    # The methods of all the interfaces, since each object has but one: dbus-python finds them by their interface.

    @dbus.service.method(DEVICE, async_callbacks=("answer", "refuse"))
    def Connect(self, answer, refuse):
        if not meet_fault("Connect"):
            self.peripheral.isKeptOff = False
            self.peripheral.link_up()
            answer()

    @dbus.service.method(DEVICE, in_signature="s", async_callbacks=("answer", "refuse"))
    def ConnectProfile(self, uuid, answer, refuse):
        if not meet_fault("ConnectProfile"):
            self.peripheral.connect(answer, refuse)

    @dbus.service.method(DEVICE, async_callbacks=("answer", "refuse"))
    def Disconnect(self, answer, refuse):
        if self.properties["Trusted"]:
            calls["DisconnectTrusted"] = calls.get("DisconnectTrusted", 0) + 1
        if not meet_fault("Disconnect"):
            # As the real one does: what is not trusted is kept off the accept list until it is told to connect it.
            self.peripheral.isKeptOff = self.peripheral.isKeptOff or not self.properties["Trusted"]
            self.peripheral.link_down()
            answer()

    @dbus.service.method(DEVICE, async_callbacks=("answer", "refuse"))
    def Pair(self, answer, refuse):
        if not meet_fault("Pair"):
            self.set(Paired=True, Bonded=True)
            answer()

    @dbus.service.method(CHARACTERISTIC, async_callbacks=("answer", "refuse"))
    def StartNotify(self, answer, refuse):
        if not meet_fault("StartNotify"):
            if self is getattr(self.peripheral, "second", None):
                self.set(Notifying=True)
            else:
                self.peripheral.start_notify()
            answer()

    @dbus.service.method(CHARACTERISTIC, async_callbacks=("answer", "refuse"))
    def StopNotify(self, answer, refuse):
        if not meet_fault("StopNotify"):
            if self is getattr(self.peripheral, "second", None):
                self.set(Notifying=False)
            else:
                self.peripheral.stop_notify()
            answer()

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="ay", async_callbacks=("answer", "refuse"))
    def ReadValue(self, options, answer, refuse):
        if not meet_fault("ReadValue"):
            # As the real one does: a read's value is told like a notified one.
            value = 98 if self.peripheral.twin is self else 99
            self.set(Value=dbus.Array([value], signature="y"))
            answer([value])

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}", async_callbacks=("answer", "refuse"))
    def WriteValue(self, value, options, answer, refuse):
        if not meet_fault("WriteValue"):
            self.peripheral.take(bytes(value), str(options.get("type", "")))
            answer()

    # As the real one: each connection scans for itself, and one that was begun with "lost" is refused all that it asks until
    # it ends. One that ends while there is a filter of it ends the last scan, also another program's.
    present = scanners = lost = filters = frozenset()

    @dbus.service.method(ADAPTER, sender_keyword="sender")
    def StartDiscovery(self, sender):
        self.watch(sender)
        if faults.get("StartDiscovery", ("", 0)) == ["lost", 1]:
            self.lost |= {sender}
        meet_fault("StartDiscovery")
        self.refuse_lost(sender)
        self.scan(self.scanners | {sender})

    @dbus.service.method(ADAPTER, sender_keyword="sender")
    def StopDiscovery(self, sender):
        meet_fault("StopDiscovery")
        self.refuse_lost(sender)
        if sender not in self.scanners:
            raise Fault("Failed", "No discovery started")
        self.scan(self.scanners - {sender})

    def refuse_lost(self, sender):
        if sender in self.lost:
            raise Fault("InProgress", "Operation already in progress")

    def watch(self, sender):
        if sender in self.present:
            return
        self.present |= {sender}
        bus.watch_name_owner(sender, lambda owner: owner or self.leave(sender))

    def leave(self, sender):
        if sender in self.filters | self.scanners:
            self.scan(self.scanners - {sender} if len(self.scanners) > 1 else frozenset())
        self.lost, self.filters = self.lost - {sender}, self.filters - {sender}
        self.present -= {sender}

    def scan(self, scanners):
        self.scanners = scanners
        if bool(scanners) != bool(self.properties["Discovering"]):
            self.set(Discovering=bool(scanners))

    @dbus.service.method(MONITORS, in_signature="o", sender_keyword="sender", async_callbacks=("answer", "refuse"))
    def RegisterMonitor(self, path, answer, refuse, sender):
        if meet_fault("RegisterMonitor"):
            return

        def take(found):
            answer()
            for place, faces in found.items():
                if MONITOR in faces:
                    self.monitor = dbus.Interface(bus.get_object(sender, place, introspect=False), MONITOR)
                    self.patterns = [(int(p[1]), bytes(p[2]).hex()) for p in faces[MONITOR]["Patterns"]]
                    if activates:
                        self.monitor.Activate(reply_handler=lambda: None, error_handler=lambda error: None)
                        self.isMonitoring = True

        dbus.Interface(bus.get_object(sender, path, introspect=False), OBJECTS).GetManagedObjects(
            reply_handler=take, error_handler=lambda error: refuse(Fault("Failed", str(error))))

    @dbus.service.method(MONITORS, in_signature="o")
    def UnregisterMonitor(self, path):
        meet_fault("UnregisterMonitor")
        self.isMonitoring = False

    @dbus.service.method(ADAPTER, in_signature="a{sv}", sender_keyword="sender")
    def SetDiscoveryFilter(self, filter, sender):
        meet_fault("SetDiscoveryFilter")
        self.watch(sender)
        self.filters = self.filters | {sender} if filter else self.filters - {sender}

    @dbus.service.method(GATT, in_signature="oa{sv}", sender_keyword="sender", async_callbacks=("answer", "refuse"))
    def RegisterApplication(self, path, options, answer, refuse, sender):
        if meet_fault("RegisterApplication"):
            return

        if (sender, path) in applications:
            return refuse(Fault("AlreadyExists", "Already Exists"))

        def take(found):
            if any(SERVICE in faces for faces in found.values()):
                applications[(sender, path)] = found
                bus.watch_name_owner(sender, lambda owner: owner or forget_program(sender))
            uuids = {u for o in found.values() for i in o.values() for u in i.get("UUIDs", [])}
            self.uuids = getattr(self, "uuids", set()) | uuids
            answer()
            for peripheral in peripherals.values():
                later(20, peripheral.come_back)

        dbus.Interface(bus.get_object(sender, path, introspect=False), OBJECTS).GetManagedObjects(
            reply_handler=take, error_handler=lambda error: refuse(Fault("Failed", str(error))))


    @dbus.service.method(GATT, in_signature="o", sender_keyword="sender")
    def UnregisterApplication(self, path, sender):
        meet_fault("UnregisterApplication")
        if applications.pop((sender, path), None) is None:
            raise Fault("DoesNotExist", "Does Not Exist")

    @dbus.service.method(ADVERTISING, in_signature="oa{sv}", sender_keyword="sender", async_callbacks=("answer", "refuse"))
    def RegisterAdvertisement(self, path, options, answer, refuse, sender):
        if meet_fault("RegisterAdvertisement"):
            return
        if (sender, path) in advertisements:
            return refuse(Fault("AlreadyExists", "Already Exists"))

        def take(found):
            advertisements[(sender, path)] = found
            count_advertisements()
            answer()

        dbus.Interface(bus.get_object(sender, path, introspect=False), PROPERTIES).GetAll(
            ADVERTISEMENT, reply_handler=take, error_handler=lambda error: refuse(Fault("Failed", str(error))))

    @dbus.service.method(ADVERTISING, in_signature="o", sender_keyword="sender")
    def UnregisterAdvertisement(self, path, sender):
        meet_fault("UnregisterAdvertisement")
        advertisements.pop((sender, path), None)
        count_advertisements()


def count_advertisements():
    for adapter in adapters.values():
        adapter.properties["ActiveInstances"] = dbus.Byte(len(advertisements))


def forget_program(sender):
    for registered in (applications, advertisements):
        for key in [key for key in registered if key[0] == sender]:
            del registered[key]
    count_advertisements()


class Central:
    """Another machine that uses the services that programs serve here."""

    def __init__(self, number, adapter, bonded):
        self.address, self.streams, self.answers = "D0:DE:00:00:00:%02X" % int(number), {}, []
        path = adapter.path + "/dev_" + self.address.replace(":", "_")
        if path in objects:
            objects[path].withdraw()
        self.place = Thing(
            path, DEVICE, Address=self.address,
            AddressType="random", Alias=self.address.replace(":", "-"), UUIDs=uuids([]), Paired=bonded, Bonded=bonded,
            Trusted=False, Connected=True, ServicesResolved=False, Adapter=dbus.ObjectPath(adapter.path))
        self.place.offer()

    def find(self, uuid):
        for (sender, _), found in applications.items():
            for path, faces in found.items():
                if str(faces.get(CHARACTERISTIC, {}).get("UUID", ""))[4:8] == uuid:
                    return dbus.Interface(bus.get_object(sender, path, introspect=False), CHARACTERISTIC)
        return None

    def options(self, offset=0, **more):
        found = {"device": dbus.ObjectPath(self.place.path), "link": "LE", "mtu": dbus.UInt16(247), **more}
        if offset:
            found["offset"] = dbus.UInt16(offset)
        return dbus.Dictionary(found, signature="sv")

    def note(self, word):
        self.answers.append(word)

    def fail(self, error):
        name = (error.get_dbus_name() or "").split(".")[-1]
        self.note(name + ("/" + error.get_dbus_message() if name == "Failed" else ""))

    def write(self, uuid, values, offset):
        """Writes one after another, as a central does that waits for each response."""
        face = self.find(uuid)
        if not face or not values:
            return None if face else self.note("absent")

        def go_on():
            self.note("ok")
            self.write(uuid, values[1:], 0)

        face.WriteValue(
            dbus.Array(values[0], signature="y"), self.options(offset), reply_handler=go_on, error_handler=self.fail)

    def read(self, uuid, offset):
        self.find(uuid).ReadValue(
            self.options(offset), reply_handler=lambda value: self.note(bytes(value).hex() or "empty"),
            error_handler=self.fail)

    def subscribe(self, uuid):
        def take(descriptor, mtu):
            self.streams[uuid] = socket.socket(fileno=descriptor.take())
            self.note("subscribed")

        self.find(uuid).AcquireNotify(self.options(), reply_handler=take, error_handler=self.fail)

    def received(self, uuid):
        values = []
        while uuid in self.streams:
            try:
                value = self.streams[uuid].recv(512, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            if not value:
                break
            values.append(value.hex())
        return values

    def part(self):
        for stream in self.streams.values():
            stream.close()
        self.streams = {}


class Configuration(dbus.service.Object):
    """A client configuration descriptor; apart, because ReadValue means something else here."""

    def __init__(self, path, peripheral):
        super().__init__()
        self.path, self.interface, self.peripheral = path, DESCRIPTOR, peripheral
        self.properties = {"UUID": "00002902-0000-1000-8000-00805f9b34fb"}

    offer, withdraw, isOffered = Thing.offer, Thing.withdraw, False

    @dbus.service.method(DESCRIPTOR, in_signature="a{sv}", out_signature="ay", async_callbacks=("answer", "refuse"))
    def ReadValue(self, options, answer, refuse):
        if not meet_fault("ReadConfiguration"):
            answer([1 if self.peripheral.isConfigured else 0, 0])


class Peripheral:
    """A strap: it says numbered values while its link is up and its notifications are on."""

    def __init__(self, number, adapter):
        self.number, self.adapter = number, adapter
        self.isUp = self.isConfigured = self.isClient = self.forgets = self.isFirst = False
        self.isKeptOff, self.twin = False, None
        self.address, self.place, self.handle = "C0:DE:00:00:00:%02X" % number, None, 14
        # Until its services are told: resolved before the objects, or never.
        self.resolves = "well"
        # What was written to it, and what it says to that, in pieces.
        self.questions, self.answers = [], {}
        # What its database says that it offers, where its advertisements say something else.
        self.outside, self.inside = [HEART_RATE], None

    def appear(self, connected=False):
        path = self.adapter.path + "/dev_" + self.address.replace(":", "_")
        self.place = Thing(
            path, DEVICE, Address=self.address, AddressType="random", Name="Strap", Alias="Strap %d" % self.number,
            UUIDs=uuids(self.outside), Paired=True, Bonded=True,
            Trusted=True, Connected=connected, ServicesResolved=False, Adapter=dbus.ObjectPath(self.adapter.path))
        self.place.peripheral = self
        self.make_database()
        self.place.offer()

    def make_database(self):
        service = self.place.path + "/service%04x" % self.handle
        path = service + "/char%04x" % (self.handle + 1)
        flags = dbus.Array(["notify", "read"], signature="s")
        self.heart = Thing(
            path, CHARACTERISTIC, UUID="00002a37-0000-1000-8000-00805f9b34fb", Flags=flags, Notifying=False)
        self.heart.peripheral = self
        things = [Thing(service, SERVICE, UUID="0000180d-0000-1000-8000-00805f9b34fb"), self.heart]
        self.database = things + [Configuration(path + "/desc%04x" % (self.handle + 3), self)]

    def make_twin(self):
        """Another characteristic with the UUID of the first, before it, that can only be read."""
        path = self.heart.path[:-4] + "%04x" % (self.handle + 0)
        self.twin = Thing(
            path, CHARACTERISTIC, UUID="00002a37-0000-1000-8000-00805f9b34fb",
            Flags=dbus.Array(["read"], signature="s"), Notifying=False)
        self.twin.peripheral = self
        self.database.insert(1, self.twin)

    def make_second(self):
        """Another characteristic with the UUID of the first, in a service of its own behind it, that speaks too."""
        service = self.place.path + "/service%04x" % (self.handle + 8)
        self.second = Thing(
            service + "/char%04x" % (self.handle + 9), CHARACTERISTIC, UUID="00002a37-0000-1000-8000-00805f9b34fb",
            Flags=dbus.Array(["notify"], signature="s"), Notifying=False)
        self.second.peripheral = self
        self.database += [Thing(service, SERVICE, UUID="0000180d-0000-1000-8000-00805f9b34fb"), self.second]

    def resolve_anew(self):
        """Bluetoothd reads its database again while it stays connected."""
        self.place.set(ServicesResolved=False)
        for thing in self.database[::-1]:
            thing.withdraw()
        self.isClient = self.isConfigured = False
        later(30, self.resolve)

    def offer_database(self):
        for thing in self.database:
            thing.offer()

    def vanish(self):
        for thing in self.database[::-1] + [self.place]:
            thing.withdraw()

    def link_up(self):
        if self.isUp or not self.place.isOffered:
            return
        self.isUp = True
        if self.forgets:
            self.isConfigured = False
        self.place.set(Connected=True)
        if self.resolves == "never":
            return
        if self.resolves == "early":
            self.place.set(ServicesResolved=True)
            later(100, self.offer_database)
        else:
            later(10, self.resolve)

    def resolve(self):
        if self.isUp:
            self.offer_database()
            self.place.set(ServicesResolved=True, UUIDs=uuids(self.inside or self.outside))

    def link_down(self):
        if not self.isUp and not self.place.properties["Connected"]:
            return
        self.isUp = False
        self.place.set(ServicesResolved=False, Connected=False)
        later(50, self.come_back)

    def come_back(self):
        """As the kernel's accept list brings it back for a profile that was registered."""
        uuids = set(getattr(self.adapter, "uuids", ())) & set(self.place.properties["UUIDs"])
        isWaiting = self.place.isOffered and not self.isKeptOff and not self.place.properties["Connected"]
        if isWaiting and self.adapter.properties["Powered"] and uuids:
            self.link_up()

    def start_notify(self):
        # Written only if it believes that it must: it does not know that the strap has forgotten.
        if not self.isClient:
            self.isClient = self.isConfigured = True
            self.heart.set(Notifying=True)

    def stop_notify(self):
        self.isClient = self.isConfigured = False
        self.heart.set(Notifying=False)

    def say(self, number):
        return self.notify(number.to_bytes(2, "little"))

    def make_pack(self):
        """It also has what questions are written to, which takes commands only; it answers by its notifications."""
        path = self.heart.path[:-4] + "%04x" % (self.handle + 5)
        asked = Thing(
            path, CHARACTERISTIC, UUID="0000fff2-0000-1000-8000-00805f9b34fb",
            Flags=dbus.Array(["write-without-response"], signature="s"))
        asked.peripheral = self
        self.database.append(asked)

    def take(self, question, way):
        self.questions.append("%s/%s" % (question.hex(), way))
        for piece in self.answers.get(question.hex(), []):
            self.notify(bytes.fromhex(piece))

    def notify(self, piece):
        heard = self.isUp and self.isConfigured and self.isClient
        if heard:
            self.heart.set(Value=dbus.Array(piece, signature="y"))
        return heard

    def change_services(self):
        for thing in self.database[::-1]:
            thing.withdraw()
        self.handle += 16
        self.isClient = self.isConfigured = False
        # As the real one: a service that goes takes its UUID with it.
        self.place.set(UUIDs=uuids([]))
        self.make_database()

        def come():
            self.offer_database()
            self.place.set(UUIDs=uuids(self.inside or self.outside))

        later(30, come)


class Logger:
    """A classic device with a serial port: what it says goes through a pair of sockets, as through the kernel's."""

    def __init__(self, number, adapter):
        self.number, self.adapter, self.copy = number, adapter, None
        # What stands open outlives bluetoothd.
        self.end = loggers[number].end if number in loggers else None
        address = "00:1D:FD:00:00:%02X" % number
        path = adapter.path + "/dev_" + address.replace(":", "_")
        self.place = Thing(
            path, DEVICE, Address=address, AddressType="public", Name="Logger %d" % number, Alias="Logger %d" % number,
            UUIDs=uuids([SERIAL_PORT]), Paired=True, Bonded=True, Trusted=True, Blocked=False, Connected=False,
            ServicesResolved=False, Adapter=dbus.ObjectPath(adapter.path))
        self.place.peripheral = self
        self.place.offer()

    def connect(self, answer, refuse):
        """As the real one: while it believes to be connected it says so, and hands nothing over."""
        if self.copy:
            return answer()
        if not manager.owner:
            return refuse(Fault("NotAvailable", "no profile"))
        ours, theirs = socket.socketpair()
        calls["NewConnection"] = calls.get("NewConnection", 0) + 1
        kept, self.end = self.end, ours

        def take(*nothing):
            if kept:
                kept.close()
            self.copy = theirs
            GLib.io_add_watch(theirs.fileno(), GLib.IO_HUP, self.lose, theirs)
            answer()

        def leave(error):
            calls["rejected"] = calls.get("rejected", 0) + 1
            theirs.close()
            self.end = kept
            refuse(Fault("Failed", str(error)))

        manager.profile().NewConnection(
            dbus.ObjectPath(self.place.path), dbus.types.UnixFd(theirs.fileno()), dbus.Dictionary({}, signature="sv"),
            reply_handler=take, error_handler=leave)

    def lose(self, descriptor, condition, theirs):
        if self.copy is theirs:
            self.copy = None
        if theirs.fileno() >= 0:
            theirs.close()
        return False

    def vanish(self):
        self.place.withdraw()

    come_back = link_down = lambda self: None


class Manager(dbus.service.Object):
    """Who has the serial port profile."""

    owner, path = None, None

    @dbus.service.method(MANAGER, in_signature="osa{sv}", sender_keyword="sender", async_callbacks=("answer", "refuse"))
    def RegisterProfile(self, path, uuid, options, answer, refuse, sender):
        if meet_fault("RegisterProfile"):
            return
        if uuid != SERIAL_PORT or options["Role"] != "client":
            return refuse(Fault("InvalidArguments", "not what was expected"))
        self.owner, self.path = sender, path
        # What an earlier owner had went with it.
        for found in loggers.values():
            if found.copy:
                found.copy.close()
                found.copy = None
        answer()

    def profile(self):
        return dbus.Interface(bus.get_object(self.owner, self.path, introspect=False), PROFILE)


class Root(dbus.service.Object):
    @dbus.service.signal(OBJECTS, signature="oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass

    @dbus.service.signal(OBJECTS, signature="oas")
    def InterfacesRemoved(self, path, interfaces):
        pass

    @dbus.service.method(OBJECTS, out_signature="a{oa{sa{sv}}}", async_callbacks=("answer", "refuse"))
    def GetManagedObjects(self, answer, refuse):
        if not meet_fault("GetManagedObjects"):
            answer({path: {thing.interface: thing.properties, **getattr(thing, "others", {})}
                    for path, thing in objects.items()})


class Commands:
    """What stdin may say. Each returns what follows its "ok"."""

    def adapter(self, name, address="00:AA:00:00:00:01"):
        adapter = Thing("/org/bluez/" + name, ADAPTER, Address=address, Powered=True, Discovering=False)
        adapter.offer()
        adapters[name] = adapter

    def monitors(self, name, address, how="activated"):
        """An adapter that takes advertisement monitors, and has the kernel take them or not."""
        global activates
        activates = how == "activated"
        adapter = Thing("/org/bluez/" + name, ADAPTER, Address=address, Powered=True, Discovering=False)
        adapter.others = {MONITORS: {"SupportedMonitorTypes": dbus.Array(["or_patterns"], signature="s")}}
        adapter.offer()
        adapters[name] = adapter

    def monitored(self, name):
        """What the monitor of the adapter looks for, while it is active."""
        adapter = adapters[name]
        if not getattr(adapter, "isMonitoring", False):
            return "-"
        return " ".join("%02x:%s" % one for one in sorted(adapter.patterns))

    def discovering(self, name):
        return "yes" if adapters[name].properties["Discovering"] else "no"

    def scanning_connections(self, name):
        """Those that have asked for a scan and have not ended."""
        return str(len(adapters[name].present))

    def scan_beside(self, name):
        """Another program scans."""
        adapters[name].scan(adapters[name].scanners | {"another"})

    def forget_scans(self, name):
        """As where the end of another's scan is taken for that of ours."""
        adapters[name].scan(frozenset())

    def broadcast(self, name, address, company, data):
        """Whether it was heard: by a scan, or by a monitor. Of what was heard before nothing is forgotten."""
        adapter = adapters[name]
        if not adapter.properties["Discovering"] and not getattr(adapter, "isMonitoring", False):
            return "unheard"
        path = adapter.path + "/dev_" + address.replace(":", "_")
        found = {dbus.UInt16(int(company, 16)): dbus.Array(bytes.fromhex(data), signature="y")}
        if path in objects:
            found = {**objects[path].properties["ManufacturerData"], **found}
        facts = dict(RSSI=dbus.Int16(-60), ManufacturerData=dbus.Dictionary(found, signature="qv"))
        if path in objects:
            objects[path].set(**facts)
        else:
            Thing(path, DEVICE, Address=address, AddressType="random", Alias=address.replace(":", "-"),
                  UUIDs=uuids([]), Paired=False, Bonded=False, Trusted=False, Connected=False, ServicesResolved=False,
                  Adapter=dbus.ObjectPath(adapter.path), **facts).offer()
        return "heard"

    def power(self, name, on):
        for peripheral in peripherals.values():
            if on == "off" and peripheral.adapter is adapters[name]:
                peripheral.link_down()
        adapters[name].set(Powered=on == "on")
        for peripheral in peripherals.values():
            later(20, peripheral.come_back)

    def remove(self, name):
        adapter = adapters.pop(name)
        for peripheral in [p for p in peripherals.values() if p.adapter is adapter]:
            peripheral.isUp = False
            peripheral.vanish()
        # A logger may be known to two adapters.
        for thing in [thing for path, thing in objects.items() if path.startswith(adapter.path + "/")]:
            thing.withdraw()
        adapter.withdraw()

    def move(self, name):
        """All peripherals appear on this adapter, as after a replug."""
        for peripheral in peripherals.values():
            peripheral.adapter = adapters[name]
            peripheral.isClient = False
            peripheral.appear()

    def peripheral(self, number, adapter, state="down"):
        """Where it is left over, the kernel has kept a link that this bluetoothd does not take up."""
        found = peripherals[int(number)] = Peripheral(int(number), adapters[adapter])
        found.appear(connected=state == "leftover")

    def double(self, number, adapter):
        """It is known to this adapter too, without a link."""
        found = peripherals[int(number)]
        path = adapters[adapter].path + "/dev_" + found.address.replace(":", "_")
        place = Thing(
            path, DEVICE, Address=found.address, AddressType="random", Name="Strap", Alias="Double", Paired=True,
            Bonded=True, UUIDs=uuids(found.outside), Trusted=True, Connected=False, ServicesResolved=False,
            Adapter=dbus.ObjectPath(adapters[adapter].path))
        place.peripheral = found
        place.offer()

    def logger(self, number, adapter):
        loggers[int(number)] = peripherals[int(number)] = Logger(int(number), adapters[adapter])

    def speak(self, number, text, times="1"):
        """Says it as a line, or so often; then a thread of its own waits for whoever is slow to listen."""
        end, line = loggers[int(number)].end, text.encode()
        if times == "1":
            return end.sendall(line + b"\n")
        flood = b"".join(line + b" %d\n" % one for one in range(int(times)))
        threading.Thread(target=end.sendall, args=(flood,), daemon=True).start()

    def heard(self, number):
        """What was written to it since it was asked last; `.` where the channel has ended."""
        try:
            return loggers[int(number)].end.recv(65536, socket.MSG_DONTWAIT).decode() or "."
        except BlockingIOError:
            return ""

    def hangup(self, number):
        loggers[int(number)].end.close()

    def push(self, number):
        """It is connected by somebody else's wish."""
        found = peripherals[int(number)]
        kept, found.copy = found.copy, None
        # Meanwhile the end of an older channel may have been seen.
        found.connect(lambda: None, lambda error: setattr(found, "copy", kept if kept and kept.fileno() >= 0 else None))

    def part(self, number):
        manager.profile().RequestDisconnection(
            dbus.ObjectPath(peripherals[int(number)].place.path), reply_handler=lambda: None,
            error_handler=lambda error: None)

    def client(self):
        """The bus name of whoever has the serial port profile."""
        return str(manager.owner)

    def release(self):
        manager.profile().Release(reply_handler=lambda: None, error_handler=lambda error: None)
        manager.owner = None

    def up(self, number):
        peripherals[int(number)].link_up()

    def down(self, number):
        peripherals[int(number)].link_down()

    def say(self, value):
        """All say it; who was heard."""
        return " ".join(str(number) for number, found in peripherals.items() if found.say(int(value)))

    def forget(self, number):
        peripherals[int(number)].forgets = True

    def resolve(self, number, how):
        peripherals[int(number)].resolves = how

    def twin(self, number):
        peripherals[int(number)].make_twin()

    def listen(self, number, on):
        """Another program listens to it, or ends to."""
        peripherals[int(number)].heart.set(Notifying=on == "on")

    def pack(self, number):
        peripherals[int(number)].make_pack()

    def teach(self, number, question, *pieces):
        """What it answers from now on; nothing without pieces."""
        peripherals[int(number)].answers[question] = pieces

    def notify(self, number, *pieces):
        return "yes" if all([peripherals[int(number)].notify(bytes.fromhex(one)) for one in pieces]) else "no"

    def asked(self, number):
        """What was written to it since this was asked last, each with its way."""
        found = peripherals[int(number)]
        told, found.questions = found.questions, []
        return " ".join(told)

    def crowd(self, number, first, count):
        """Announces further characteristics without a pause."""
        service = peripherals[int(number)].heart.path.rsplit("/", 1)[0]
        for handle in range(int(first), int(first) + int(count)):
            root.InterfacesAdded("%s/char%04x" % (service, handle), {CHARACTERISTIC: {
                "UUID": "0000%04x-0000-1000-8000-00805f9b34fb" % handle, "Notifying": False,
                "Flags": dbus.Array(["read"], signature="s")}})

    def scatter(self, number, first, count):
        """Removes characteristics again."""
        service = peripherals[int(number)].heart.path.rsplit("/", 1)[0]
        for handle in range(int(first), int(first) + int(count)):
            root.InterfacesRemoved("%s/char%04x" % (service, handle), [CHARACTERISTIC])

    def replace(self, number):
        """Replaces the subscribed characteristic at once by a new one, which sends nothing until it is subscribed again."""
        found = peripherals[int(number)]
        found.heart.withdraw()
        found.isClient = found.isConfigured = False
        found.heart.offer()

    def waver(self, number, count):
        """Changes its name and its services `count` times without a pause."""
        place = peripherals[int(number)].place
        for turn in range(int(count)):
            names = [HEART_RATE] + ["5f0f0001-1ab0-4c7a-9e33-000000000001"][turn % 2:]
            place.PropertiesChanged(DEVICE, {"Name": "Name %d" % turn, "UUIDs": uuids(names)}, [])

    def services(self, number):
        peripherals[int(number)].change_services()

    def anew(self, number):
        peripherals[int(number)].resolve_anew()

    def second(self, number):
        peripherals[int(number)].make_second()

    def speaks(self, number, data):
        """The second of its UUID, which must be switched on by itself."""
        second = peripherals[int(number)].second
        if second.properties["Notifying"]:
            second.set(Value=dbus.Array(bytes.fromhex(data), signature="y"))
        return "yes" if second.properties["Notifying"] else "no"

    def offer(self, number, *texts):
        """What it is known to offer, before it is connected."""
        peripherals[int(number)].outside = list(texts)
        peripherals[int(number)].place.set(UUIDs=uuids(texts))

    def inside(self, number, *texts):
        peripherals[int(number)].inside = list(texts)

    def advertise(self, number):
        peripherals[int(number)].place.set(RSSI=dbus.Int16(-60))

    def set(self, number, name, value):
        """One property of a peripheral: a truth, or a text."""
        peripherals[int(number)].place.set(**{name: {"yes": True, "no": False}.get(value, value)})

    def rename(self, adapter, number, alias):
        """The object of this adapter, where several have one."""
        beginning, end = adapters[adapter].path + "/dev_", "_%02X" % int(number)
        path = next(path for path in objects if path.startswith(beginning) and path.endswith(end))
        objects[path].set(Alias=alias)

    def fault(self, member, fault, count="1"):
        faults[member] = [fault, int(count)]

    def calls(self, member):
        return str(calls.get(member, 0))

    def distrust(self, adapter):
        """Nobody trusts what this one knows any more."""
        for path, thing in list(objects.items()):
            if path.startswith(adapters[adapter].path + "/"):
                thing.set(Trusted=False)

    def trusted(self, number):
        return "yes" if peripherals[int(number)].place.properties["Trusted"] else "no"

    def quiet(self):
        """No profile is registered any more, so nothing is brought back."""
        for adapter in adapters.values():
            adapter.uuids = ()

    def flood(self, count):
        """Strangers that advertise, each under another address."""
        for number in range(int(count)):
            address = "4A:%02X:%02X:00:00:00" % (number >> 8, number & 255)
            path = "/org/bluez/hci0/dev_" + address.replace(":", "_")
            data = dbus.Dictionary({dbus.UInt16(76): dbus.Array([1, 2], signature="y")}, signature="qv")
            root.InterfacesAdded(
                path, {DEVICE: {"Address": address, "RSSI": dbus.Int16(-80), "ManufacturerData": data}})

    def nonsense(self):
        """Paths that nobody knows and types that nobody expects."""
        ghost = Thing("/org/bluez/hci9/dev_00", DEVICE)
        ghost.add_to_connection(bus, ghost.path)
        ghost.PropertiesChanged(DEVICE, {"Connected": True}, [])
        ghost.PropertiesChanged(CHARACTERISTIC, {"Value": dbus.Array([1], signature="y")}, [])
        ghost.PropertiesChanged("org.bluez.Unheard1", {"Connected": True}, ["Name"])
        for peripheral in peripherals.values():
            wrong = {"Connected": "yes", "RSSI": dbus.Array([], signature="s"), "UUIDs": True, "Address": 7}
            peripheral.place.PropertiesChanged(DEVICE, wrong, ["Nothing"])
            peripheral.heart.PropertiesChanged(CHARACTERISTIC, {"Value": "text", "UUID": 3}, [])
        root.InterfacesRemoved("/org/bluez/hci9/dev_01", [DEVICE, "org.bluez.Unheard1"])


    def central(self, number, adapter, bond="bonded"):
        centrals[int(number)] = Central(number, adapters[adapter], bond == "bonded")

    def leave(self, number):
        """Its link ends."""
        centrals[int(number)].place.set(Connected=False)
        centrals[int(number)].part()

    def silence(self):
        """The controller drops its advertisement without a report."""
        advertisements.clear()
        count_advertisements()

    def release_advertisements(self):
        for sender, path in list(advertisements):
            del advertisements[(sender, path)]
            dbus.Interface(bus.get_object(sender, path, introspect=False), ADVERTISEMENT).Release(
                reply_handler=lambda: None, error_handler=lambda error: None)
        count_advertisements()

    def served(self):
        """The characteristics of all programs, each with its flags."""
        found = [faces[CHARACTERISTIC] for tree in applications.values() for faces in tree.values() if CHARACTERISTIC in faces]
        return " ".join(sorted(str(one["UUID"])[4:8] + ":" + ",".join(sorted(one["Flags"])) for one in found))

    def advertised(self):
        """Name, interval and services of each advertisement."""
        return " ".join(sorted("%s/%d/%s" % (
            one.get("LocalName", "-"), one["MinInterval"], ",".join(str(uuid)[4:8] for uuid in one["ServiceUUIDs"]))
            for one in advertisements.values()))

    def central_writes(self, number, uuid, first, count="1", offset="0"):
        """Numbers of two bytes from this one on, each after the answer to the one before."""
        values = [one.to_bytes(2, "big") for one in range(int(first), int(first) + int(count))]
        centrals[int(number)].write(uuid, values, int(offset))

    def central_reads(self, number, uuid, offset="0"):
        centrals[int(number)].read(uuid, int(offset))

    def central_subscribes(self, number, uuid):
        centrals[int(number)].subscribe(uuid)

    def central_unsubscribes(self, number, uuid):
        centrals[int(number)].streams.pop(uuid).close()

    def central_confirms(self, number, uuid):
        centrals[int(number)].streams[uuid].send(b"\1")

    def central_prepares(self, number, uuid):
        """It asks to begin a long write, and goes before it sends it."""
        found = centrals[int(number)]
        found.find(uuid).WriteValue(
            dbus.Array([], signature="y"), found.options(**{"prepare-authorize": True}),
            reply_handler=lambda: found.note("prepared"), error_handler=found.fail)

    def answers(self, number):
        return " ".join(centrals[int(number)].answers)

    def received(self, number, uuid):
        return " ".join(centrals[int(number)].received(uuid))

    def live(self):
        bus.request_name("org.bluez")

    def die(self):
        """As if it had crashed: its name goes, and its objects with it."""
        bus.release_name("org.bluez")
        for thing in list(objects.values()):
            thing.remove_from_connection(bus, thing.path)
            thing.isOffered = False
        objects.clear()
        adapters.clear()
        peripherals.clear()
        applications.clear()
        advertisements.clear()
        for found in centrals.values():
            later(50, found.part)
        manager.owner = None


def obey(source, condition):
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    name, *words = line.split()
    said = getattr(commands, name)(*words)
    print("ok" if said is None else "ok " + said, flush=True)
    return True


activates = True
bus = dbus.SystemBus()
adapters, peripherals, loggers, centrals, commands = {}, {}, {}, {}, Commands()
root, manager = Root(bus, "/"), Manager(bus, "/org/bluez")
GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, obey)
print("ok", flush=True)
GLib.MainLoop().run()
