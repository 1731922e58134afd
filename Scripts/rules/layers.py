"""Layers: which module may import which. Arrows run downwards only."""
from rules import missing, rule

HERE = "Scripts/rules/layers.py"
# A module and all that it may import. A module comes before everything that may import it.
LAYERS = [
    ("WakeModel", "Synchronization"),
    ("WakeCore", "WakeModel"),
    ("WakeTransfer", "WakeModel"),
    ("WakeAgenda", "WakeModel WakeTransfer Synchronization"),
    ("WakeProfiles", "WakeModel CCrypto Synchronization"),
    ("WakeTrace", "WakeModel"),
    ("WakeTraceEditing", "WakeModel WakeTrace"),
    ("WakeHCI", "WakeModel"),
    # For systems beside Linux too.
    ("WakeHandler", "WakeModel Darwin Glibc Musl"),
    ("WakeHandlerFoundation", "WakeHandler Foundation FoundationEssentials"),
    ("WakeHandlerTesting", "WakeModel WakeProfiles WakeTrace WakeHandler Darwin Glibc Musl"),
    ("WakeArguments", "WakeModel CGetopt Glibc"),
    ("WakeJournal", "WakeModel CSQLite Glibc"),
    ("WakeSystem", "WakeModel CLinux CBluetooth CUdev CCrypto CZlib Glibc Synchronization"),
    ("WakeCapture", "WakeModel WakeTrace WakeHCI WakeSystem"),
    ("WakeLoop", "WakeModel WakeSystem CSystemd Glibc"),
    ("WakeMQTT", "WakeModel WakeProfiles WakeSystem WakeLoop CPaho Glibc"),
    ("WakeSources", "WakeModel WakeProfiles WakeTrace WakeHCI WakeSystem WakeLoop"),
    ("WakeAuthoring", "WakeModel WakeProfiles WakeTrace WakeSources"),
    ("WakePairing", "WakeModel WakeSystem WakeLoop WakeSources"),
    ("WakeDoctor", "WakeModel WakeHCI WakeSystem WakeLoop WakeSources Glibc"),
    ("WakeControl", "WakeModel WakeSystem WakeLoop CMicrohttpd Glibc"),
    ("WakeEngine",
     "WakeModel WakeCore WakeTransfer WakeAgenda WakeProfiles WakeTrace WakeJournal WakeSystem WakeLoop "
     "WakeMQTT WakeSources Glibc"),
    ("WakeAPI",
     "WakeModel WakeCore WakeAgenda WakeProfiles WakeTrace WakeJournal WakeSystem WakeLoop WakeSources "
     "WakeEngine WakeControl CPage Glibc"),
    ("WakeDaemon",
     "WakeModel WakeCore WakeTransfer WakeAgenda WakeProfiles WakeTrace WakeArguments WakeJournal WakeSystem "
     "WakeLoop WakeMQTT WakeSources WakeEngine WakeControl WakeAPI Glibc"),
    ("wakebridged", "WakeDaemon Glibc"),
    ("wakebridge-transferd", "WakeModel WakeTransfer WakeSystem WakeLoop CCurlMulti CCrypto Glibc"),
    # It uses the loop for scanning and pairing, which speak to bluetoothd and need no daemon.
    ("wakebridge",
     "WakeModel WakeCore WakeProfiles WakeTrace WakeTraceEditing WakeCapture WakeArguments WakeSystem WakeLoop WakeSources "
     "WakePairing WakeAuthoring WakeDoctor WakeControl WakeEngine WakeDaemon CCurl CQRCode Glibc "
     "Synchronization"),
]
IMPORTERS = {
    "CLinux": {"WakeSystem"}, "CSystemd": {"WakeLoop"}, "CSQLite": {"WakeJournal"}, "CMicrohttpd": {"WakeControl"},
    "CBluetooth": {"WakeSystem"}, "CUdev": {"WakeSystem"}, "CGetopt": {"WakeArguments"}, "CPage": {"WakeAPI"},
    "CZlib": {"WakeSystem"}, "CQRCode": {"wakebridge"}, "CPaho": {"WakeMQTT"},
    "CCrypto": {"WakeProfiles", "WakeSystem", "wakebridge-transferd"}, "CCurl": {"wakebridge"},
    "CCurlMulti": {"wakebridge-transferd"},
}
WITHOUT_EFFECTS = {"WakeModel", "WakeCore", "WakeTrace", "WakeTraceEditing", "WakeHCI", "WakeCapture", "WakeProfiles"}
EFFECTS = r"print\(|ContinuousClock|SuspendingClock|\.random\(|SystemRandomNumberGenerator"


def beyond(file, allowed, advice):
    """A violation for each import that is not among the allowed ones."""
    return [file.at(line, f"{file.module} imports {name} here; {advice}")
            for name, line in file.imports.items() if name not in allowed]


@rule("imports", "every module imports only what the architecture allows it")
def imports(tree):
    allowed = {module: set(names.split()) for module, names in LAYERS}
    for file in tree.swift:
        if file.module in allowed:
            yield from beyond(file, allowed[file.module], f"take the import away, or allow it in {HERE}")


@rule("downwards", "every module has its place in the layers, and arrows between modules run downwards only")
def downwards(tree):
    folders, listed, below = {file.module for file in tree.swift}, [module for module, _ in LAYERS], set()
    for module in sorted(folders ^ set(listed)):
        yield missing(tree, HERE, f'"{module}"', f"the folder Sources/{module} and the layers differ; list what is there")
    for module, names in LAYERS:
        for name in sorted(set(names.split()) & folders - below):
            yield missing(tree, HERE, f'("{module}"', f"{module} looks upwards to {name}; put it below or drop the arrow")
        below.add(module)


@rule("pure", "the model imports nothing but a lock, and the core nothing but the model")
def pure(tree):
    allowed = {"WakeModel": {"Synchronization"}, "WakeCore": {"WakeModel"}}
    for file in tree.swift:
        if file.module in allowed:
            yield from beyond(file, allowed[file.module], "keep this module pure")


@rule("doctor", "the doctor judges without looking: only what lies in Look imports more than the model")
def doctor(tree):
    files = [file for file in tree.swift if file.module == "WakeDoctor"]
    judging = [file for file in files if "/Look/" not in file.path]
    if not 1 < len(judging) < len(files):
        yield missing(tree, HERE, "def doctor", "Sources/WakeDoctor has no files that judge beside those in Look; split them")
    for file in judging:
        yield from beyond(file, {"WakeModel"}, "move the look at the machine to the folder Look")


@rule("effects", "model, core, traces, captures, HCI and profiles read no clock, draw no lots and print nothing")
def effects(tree):
    for file in tree.swift:
        if file.module in WITHOUT_EFFECTS:
            yield from file.places(EFFECTS, f"{file.module} has an effect here; let its caller pass the value in")


@rule("importers", "each system library has the importers that are listed")
def importers(tree):
    for library, expected in IMPORTERS.items():
        found = {file.module: file for file in tree.swift if library in file.imports}
        for module in sorted(set(found) - expected):
            file = found[module]
            yield file.at(file.imports[library], f"{module} imports {library}; ask {' or '.join(sorted(expected))} for it")
        for module in sorted(expected - set(found)):
            yield missing(tree, HERE, f'"{library}": ', f"{module} does not import {library} any more; remove it from the list")


@rule("foundation", "no file imports Foundation, FoundationEssentials or Dispatch, but the overlay for handlers")
def foundation(tree):
    for file in tree.swift + tree.examples:
        overlaid = {"Foundation", "FoundationEssentials"} if file.module == "WakeHandlerFoundation" else set()
        for name in file.imports.keys() & {"Foundation", "FoundationEssentials", "Dispatch"} - overlaid:
            yield file.at(file.imports[name], f"{name} is imported here; use Glibc or WakeSystem")


@rule("synchronous", "there are no actors and nothing asynchronous outside the handler authors' libraries")
def synchronous(tree):
    for file in tree.swift:
        if not file.module.startswith("WakeHandler"):
            yield from file.places(r"\b(async|await|actor)\b", "this is asynchronous; use the event loop")
