"""Unsafe pointers: the files that may name them, each with its reason. Everyone else gets values."""
import re

from rules import missing, rule

HERE = "Scripts/rules/pointers.py"
EDGES = {
    "Sources/wakebridge-transferd/CurlMulti.swift": "libcurl's sockets and time",
    "Sources/wakebridge-transferd/HTTPExchange.swift": "one exchange of libcurl, and what it calls",
    "Sources/WakeSystem/Account.swift": "getpwnam_r fills a buffer of ours",
    "Sources/WakeSystem/ChildProcess.swift": "hands C the strings of a spawn",
    "Sources/WakeSystem/BackgroundJob.swift": "hands a thread its work",
    "Sources/WakeSystem/File.swift": "readdir's name is a C array",
    "Sources/WakeSystem/DatagramSocket.swift": "recvmsg",
    "Sources/WakeSystem/FileDescriptor.swift": "read and write",
    "Sources/WakeSystem/Leaf.swift": "reads cgroup.events without allocating",
    "Sources/WakeSystem/Log.swift": "writes a line with one call",
    "Sources/WakeSystem/StandardStreams.swift": "writes bytes with one call",
    "Sources/WakeSystem/MappedFile.swift": "a file in memory",
    "Sources/WakeSystem/SpawnRequest.swift": "argv and envp",
    "Sources/WakeSystem/TemporaryDirectory.swift": "mkdtemp changes its template; readlink fills a buffer",
    "Sources/WakeSystem/Udev/Udev.swift": "libudev's context and enumeration",
    "Sources/WakeSystem/Udev/UdevDevice.swift": "libudev's devices and the strings that they own",
    "Sources/WakeSystem/Udev/UdevMonitor.swift": "libudev's monitor",
    "Sources/WakeSystem/UnixSocket.swift": "sockaddr_un",
    "Sources/WakeJournal/Database.swift": "sqlite3's handle",
    "Sources/WakeJournal/Statement.swift": "sqlite3's statements, text and blobs",
    "Sources/WakeLoop/DescriptorStore.swift": "the names of sd_listen_fds_with_names",
    "Sources/WakeLoop/EventLoop.swift": "sd-event's handle",
    "Sources/WakeLoop/Source.swift": "sd-event's sources and their userdata",
    "Sources/WakeLoop/LoopTimers.swift": "sd-event's userdata",
    "Sources/WakeLoop/Bus/BusConnection.swift": "sd-bus's handle, messages and userdata",
    "Sources/WakeLoop/Bus/BusError.swift": "an error that a message carries",
    "Sources/WakeLoop/Bus/BusMessage.swift": "reads and writes sd-bus's messages",
    "Sources/WakeLoop/Bus/BusObject.swift": "sd-bus's slots, messages and userdata",
    "Sources/WakeLoop/Bus/BusSubscription.swift": "sd-bus's slots, messages and userdata",
    "Sources/WakeSystem/Inflater.swift": "zlib's state",
    "Sources/WakeAPI/Web/EmbeddedFile.swift": "what the program carries is memory of C",
    "Sources/WakeControl/Server/HTTPConnection.swift": "libmicrohttpd's connections",
    "Sources/WakeControl/Server/HTTPEdge.swift": "libmicrohttpd's callbacks",
    "Sources/WakeMQTT/Connection/PahoClient.swift": "Paho's client and what it tells",
    "Sources/WakeHandler/Descriptors.swift": "read and write",
    "Sources/WakeHandler/SocketDescriptors.swift": "recvmsg and the descriptor that comes with it",
    "Sources/WakeArguments/ParsedArguments.swift": "getopt_long's argv",
    "Sources/wakebridge/CommandLine/ControlClient.swift": "libcurl's callbacks",
}
UNSAFE = re.compile("Unsafe|OpaquePointer|Unmanaged")


@rule("pointers", "unsafe pointers stay at the edges that call C, and no edge is listed that needs none")
def pointers(tree):
    sources = {file.path: file for file in tree.swift + tree.examples}
    for path, file in sources.items():
        if path not in EDGES:
            yield from file.places(UNSAFE, f"an unsafe pointer is named here; hand over a value, or list the file in {HERE}")
    for path, reason in EDGES.items():
        if path not in sources or not UNSAFE.search(sources[path].code):
            yield missing(tree, HERE, path, f"{path} is listed for '{reason}' and names no unsafe pointer; remove the entry")
