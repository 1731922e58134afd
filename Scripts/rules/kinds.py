"""Kinds of events: a kind's word is in its own folders and in the table of kinds, and in fewer and fewer other files."""
import re

from rules import missing, rule

HERE = "Scripts/rules/kinds.py"
# The kind `flow` represents all kinds: a file that names it outside of its folder would name the next kind too.
KIND = re.compile(r"(?<![A-Za-z_])(?<!data )[Ff]lows?(?![a-z_])|(?<=[a-z])Flows?(?![a-z])|Flow(?=[A-Z])")
FOLDERS = ("Sources/WakeAgenda/Flows/",)
# Serial lines have a flow control.
SERIAL = {
    "Sources/WakeModel/Devices/AccessoryPlan.swift", "Sources/WakeProfiles/ProfileDocument.swift",
    "Sources/WakeSystem/Nodes/SerialPort.swift", "Sources/wakebridge/Start/AttachedNode.swift",
}
# Other files that name it. Remove those that no longer do, and add none: a surface takes its words from TriggerKind.
NAMING = {
    "Sources/WakeAgenda/Agenda.swift",
    "Sources/WakeAgenda/AgendaPlan.swift",
    "Sources/WakeAgenda/TriggerTable.swift",
    "Sources/WakeAPI/Handlers/HandlerReasons.swift",
    "Sources/WakeAPI/Handlers/HandlerReports.swift",
    "Sources/WakeAPI/Status/StatusReport.swift",
    "Sources/WakeDaemon/Configuration/ManifestWarnings.swift",
    "Sources/WakeHandler/BackgroundEvent.swift",
    "Sources/WakeHandler/BackgroundFlow.swift",
    "Sources/WakeHandler/BackgroundSession.swift",
    "Sources/WakeHandler/BridgeWord.swift",
    "Sources/WakeHandler/Devices.swift",
    "Sources/WakeHandler/EventProcessing.swift",
    "Sources/WakeHandler/EventWorks.swift",
    "Sources/WakeHandler/InboundLine.swift",
    "Sources/WakeHandler/OpenEvents.swift",
    "Sources/WakeHandler/PendingRequest.swift",
    "Sources/WakeHandler/ScheduleWords.swift",
    "Sources/WakeHandler/SessionDelegate.swift",
    "Sources/WakeHandlerTesting/PlayedOccasion.swift",
    "Sources/WakeHandlerTesting/PlayedSchedule.swift",
    "Sources/WakeModel/Kinds/KnownKinds.swift",
}


def naming(tree):
    return {file.path for file in tree.swift
            if file.path.startswith("Sources/") and not file.path.startswith(FOLDERS) and file.path not in SERIAL
            and KIND.search(file.text)}


@rule("kinds", "a kind of event is named in its folder, in the table of kinds and in files that become fewer")
def kinds(tree):
    found = naming(tree)
    for path in sorted(found - NAMING):
        line = next(number for number, text in enumerate(tree.file(path).text.split("\n"), 1) if KIND.search(text))
        yield tree.file(path).at(line, "this names the kind 'flow'; take the word from TriggerKind, or move the code to its folder")
    for path in sorted(NAMING - found):
        yield missing(tree, HERE, path, f"{path} no longer names the kind 'flow'; remove the line")
