// Every metric that the daemon serves, in the order in which it serves them; docs/reference/metrics.md has a row for each.

extension MetricFamily {
    static let all: [MetricFamily] = [ofProcess, ofBridge, ofEvents, ofDevices, ofAdapters, ofHandlers].flatMap { $0 }

    // MARK: The daemon

    static let ofProcess = [build, startTime, processorTime, residentMemory]
    static let build = MetricFamily("wakebridge_build", .info, "The version of the daemon.")
    static let startTime = MetricFamily(
        "process_start_time_seconds", .gauge, "When the daemon started, in Unix time.")
    static let processorTime = MetricFamily(
        "process_cpu_seconds", .counter, "Processor time of the daemon, without its handlers.")
    static let residentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, "Resident memory of the daemon.")

    static let ofBridge = [
        strongSuspension, warnings, warningsByCode, longestCall, longCalls, journalSize, journalLimit, journalHealth,
        journalCommits,
    ]
    static let strongSuspension = MetricFamily(
        "wakebridge_suspends_by_cgroup", .gauge, "1 where the cgroup freezer freezes handlers, 0 for stop signals.")
    static let warnings = MetricFamily(
        "wakebridge_warnings", .gauge, "Warnings, as wakebridge status lists them.")
    static let warningsByCode = MetricFamily(
        "wakebridge_warnings_by_code", .gauge,
        "The same by the code of the doctor's finding, 0 for those that are gone.")
    static let longestCall = MetricFamily(
        "wakebridge_loop_longest_call_seconds", .gauge, "The longest that one call kept the loop so far, by cause.")
    static let longCalls = MetricFamily(
        "wakebridge_loop_long_calls", .counter, "Calls that kept the loop for more than 50 ms, by cause.")
    static let journalSize = MetricFamily(
        "wakebridge_journal_bytes", .gauge, "Size of the journal's files, by store.")
    static let journalLimit = MetricFamily(
        "wakebridge_journal_limit_bytes", .gauge, "What the journal may take: journal.max_size.")
    static let journalHealth = MetricFamily(
        "wakebridge_journal_healthy", .gauge, "1 while the store is written, 0 while its events are in memory only.")
    static let journalCommits = MetricFamily(
        "wakebridge_journal_commits", .counter, "Turns that were committed to the journal.")

    // MARK: Events

    static let ofEvents = [events, unwatchedEvents, gaps]
    static let events = MetricFamily(
        "wakebridge_events", .counter, "Events that were raised, by the mode of their device and by kind.")
    static let unwatchedEvents = MetricFamily(
        "wakebridge_unwatched_events", .counter, "Events that no handler was to get.")
    static let gaps = MetricFamily(
        "wakebridge_gaps", .counter, "Gaps that were reported, by cause; one that grows counts once.")

    // MARK: Devices

    static let ofDevices = [devices, connected, lastData, deviceEvents, disconnects, deviceGaps]
    static let devices = MetricFamily("wakebridge_devices", .gauge, "Known devices, by mode and state of the link.")
    static let connected = MetricFamily(
        "wakebridge_device_connected", .gauge, "1 while the device is connected, 0 while it is not.")
    static let lastData = MetricFamily(
        "wakebridge_device_last_data_timestamp_seconds", .gauge, "When its last data came, in Unix time.")
    static let deviceEvents = MetricFamily(
        "wakebridge_device_events", .counter, "Events of the device, without gaps.")
    static let disconnects = MetricFamily("wakebridge_device_disconnects", .counter, "Disconnects of the device.")
    static let deviceGaps = MetricFamily("wakebridge_device_gaps", .counter, "Gaps of the device.")

    static let ofAdapters = [adapterPower, adapterLinks, adapterMost, adapterWaiting]
    static let adapterPower = MetricFamily("wakebridge_adapter_powered", .gauge, "1 while the adapter is on.")
    static let adapterLinks = MetricFamily("wakebridge_adapter_links", .gauge, "Links that the adapter carries.")
    static let adapterMost = MetricFamily(
        "wakebridge_adapter_most_links", .gauge, "Links that it carried when it refused another.")
    static let adapterWaiting = MetricFamily(
        "wakebridge_adapter_waiting_devices", .gauge, "Devices that wait for a link of the adapter.")

    // MARK: Handlers

    static let ofHandlers: [MetricFamily] = [ofStanding, ofWakes, ofWork, ofPenalties].flatMap { $0 }
    static let ofStanding = [state, queued, queuedSize, openEvents, scheduled, deadLetters]
    static let state = MetricFamily("wakebridge_handler_state", .gauge, "1 for the state that the handler is in.")
    static let queued = MetricFamily("wakebridge_handler_queued_events", .gauge, "Events that wait for the handler.")
    static let queuedSize = MetricFamily(
        "wakebridge_handler_queued_bytes", .gauge, "Size of the events that wait.")
    static let openEvents = MetricFamily(
        "wakebridge_handler_open_events", .gauge, "Events that were delivered and not acknowledged yet.")
    static let scheduled = MetricFamily(
        "wakebridge_handler_scheduled", .gauge, "Alarms, polls, jobs, transfers and sockets that wait or run.")
    static let deadLetters = MetricFamily("wakebridge_handler_dead_letters", .gauge, "Dead letters of the handler.")

    static let ofWakes = [wakes, wakeLatency, awake, handlerProcessorTime, budget, budgetUsed]
    static let wakes = MetricFamily("wakebridge_handler_wakes", .counter, "Wakes, by thaw or by launch.")
    static let wakeLatency = MetricFamily(
        "wakebridge_handler_wake_latency_seconds", .histogram,
        "From when the daemon read what woke the handler until it was thawed.")
    static let awake = MetricFamily(
        "wakebridge_handler_awake_seconds", .counter, "Time that the handler was awake.")
    static let handlerProcessorTime = MetricFamily(
        "wakebridge_handler_cpu_seconds", .counter,
        "Processor time of the handler's present process and all that it started.")
    static let budget = MetricFamily(
        "wakebridge_handler_budget_seconds", .gauge, "Time that the handler has to make progress.")
    static let budgetUsed = MetricFamily(
        "wakebridge_handler_budget_used_seconds", .histogram,
        "From a delivery, or the acknowledgement before, to an acknowledgement.")

    static let ofWork = [delivered, acknowledged, refused, faults]
    static let delivered = MetricFamily(
        "wakebridge_handler_delivered_events", .counter, "Events that were delivered, each time they came.")
    static let acknowledged = MetricFamily(
        "wakebridge_handler_acknowledged_events", .counter, "Events that were acknowledged, by result.")
    static let refused = MetricFamily("wakebridge_handler_nacks", .counter, "Events that the handler refused.")
    static let faults = MetricFamily(
        "wakebridge_handler_faults", .counter, "Lines of the handler that were answered with an error.")

    static let ofPenalties = [overruns, strikes, holds, heldFor, ends, lettersMade]
    static let overruns = MetricFamily("wakebridge_handler_overruns", .counter, "Budgets that ran out.")
    static let strikes = MetricFamily("wakebridge_handler_strikes", .gauge, "Strikes that count at present.")
    static let holds = MetricFamily("wakebridge_handler_holds", .counter, "Penalties that began.")
    static let heldFor = MetricFamily(
        "wakebridge_handler_held_seconds", .gauge, "What is left of a penalty.")
    static let ends = MetricFamily(
        "wakebridge_handler_ends", .counter, "Processes of the handler that ended, by reason.")
    static let lettersMade = MetricFamily(
        "wakebridge_handler_dead_lettered_events", .counter, "Events that became dead letters.")
}
