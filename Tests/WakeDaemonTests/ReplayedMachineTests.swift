// Each thing that a trace says of the machine, as it comes out of a replay: conditions, clocks, zones, sleeps and new beginnings.
import TestBench
import Testing
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeTrace

/// A handler with an hourly job that needs mains, and is always in memory.
private let backup =
    #"+0 handler w manifest {"autostart":true,"jobs":[{"id":"backup","kind":"processing","every":"1h","require":["power"]}]}"#
/// One with an alarm at eight in the morning.
private let eight = #"+0 handler w manifest {"alarms":[{"id":"pill","daily":["08:00"]}]}"#
/// One that orders alarms.
private let ordering = #"+0 handler w manifest {"autostart":true,"alarms":[]}"#
private let tea = #"+1 handler w say {"alarm":{"id":"tea","in_s":600}}"#

@Suite("A machine's own lines in a replay")
struct ReplayedMachineTests {
    // MARK: Conditions

    @Test("a condition of which the trace says nothing is true")
    func unsaid() throws {
        let played = try Replayed(backup, "+3700 machine synchronized on")
        #expect(played.seconds(of: "job backup raise") == [3_600])
    }

    @Test("a job waits for power as long as the trace says that there is none, and two minutes more")
    func waitsForPower() throws {
        let played = try Replayed(
            "+0 machine condition power off", backup, "+5000 machine condition power on",
            "+1000 machine synchronized on")
        #expect(played.seconds(of: "job backup raise") == [5_120])
    }

    @Test("a job that runs is taken back ten seconds after its power went, uncharged, and begins again when it is back")
    func pressed() throws {
        let played = try Replayed(
            backup, "+3700 machine condition power off", "+500 machine condition power on",
            "+1000 machine synchronized on",
            work: .seconds(300))
        #expect(played.seconds(of: "job backup raise") == [3_600, 4_320])
        #expect(played.seconds(of: "job backup lost power") == [3_710])
        #expect(played.seconds(of: "expiring condition") == [3_710] && played.decisions.contains("withdraw 1"))
        #expect(played.seconds(of: "ack 2") == [4_620])
        #expect(!played.decisions.contains("charge") && !played.decisions.contains("fault"), "\(played.decisions)")
    }

    @Test("a long job that works for an hour says how far it is, and is not taken for stalled")
    func works() throws {
        let job = #"+0 handler w manifest {"jobs":[{"id":"index","kind":"processing","every":"2h","max_run":"90m"}]}"#
        let played = try Replayed(job, "+7300 machine synchronized on", work: .seconds(3_600))
        #expect(played.seconds(of: "ack 1") == [10_800])
        #expect(played.seconds(of: "progress 1").count == 119)
    }

    @Test("a handler that a person holds keeps the machine from being idle")
    func idle() throws {
        let job = #"+0 handler w manifest {"jobs":[{"id":"sweep","kind":"refresh","every":"1h","require":["idle"]}]}"#
        let played = try Replayed(
            job, "+3000 handler w attach", "+1000 handler w detach", "+1000 machine synchronized on")
        #expect(played.seconds(of: "job sweep raise") == [4_000])
    }

    @Test("a handler that runs on mains alone is not woken on battery")
    func requirement() throws {
        let manifest = #"+0 handler w manifest {"require":["power"],"alarms":[{"id":"tick","every":"10m"}]}"#
        let played = try Replayed(
            manifest, "+30 machine condition power off", "+1000 machine condition power on",
            "+10 machine synchronized on")
        #expect(played.seconds(of: "deliver") == [1_030])
    }

    // MARK: Zones

    @Test("an alarm goes by the zone of the trace's header, and by UTC where that names none")
    func zoneOfHeader() throws {
        let tokyo = try Replayed(header: "zone=Asia/Tokyo", eight, "+86400 machine synchronized on")
        #expect(tokyo.values("due", of: "alarm.fired") == ["2026-11-21T23:00:00.000000Z"])
        let unknown = try Replayed(eight, "+86000 machine synchronized on")
        #expect(unknown.values("due", of: "alarm.fired") == ["2026-11-21T08:00:00.000000Z"])
    }

    @Test("an alarm follows the machine into another zone")
    func zoneChanges() throws {
        let played = try Replayed(
            header: "zone=Asia/Tokyo", eight, "+3600 machine zone Europe/Berlin", "+90000 machine synchronized on")
        // Eight in the morning of Berlin was over when it came there.
        #expect(played.values("due", of: "alarm.fired") == ["2026-11-22T07:00:00.000000Z"])
    }

    @Test("a zone that this machine has not is told with its line")
    func missingZone() throws {
        let line = thrown(TraceError.self) { try Replayed(eight, "+1 machine zone Mars/Olympus") }
        #expect(line?.line == 5 && line?.reason.contains("no time zone `Mars/Olympus`") == true)
        let header = thrown(TraceError.self) { try Replayed(header: "zone=Mars/Olympus", eight) }
        #expect(header?.line == 2 && header?.reason.contains("no time zone `Mars/Olympus`") == true)
    }

    // MARK: Clocks

    @Test("a clock that is set forward over an alarm lets it fire, late, and once")
    func clockForward() throws {
        let played = try Replayed(eight, "+1000 machine clock +7200", "+10000 machine synchronized on")
        #expect(played.seconds(of: "alarm pill raised") == [1_000])
        #expect(played.values("due", of: "alarm.fired") == ["2026-11-21T08:00:00.000000Z"])
    }

    @Test(
        "an alarm of the calendar waits ten minutes for a clock that is known to be right, and less where it becomes so"
    )
    func synchronized() throws {
        let five = #"+0 handler w manifest {"alarms":[{"id":"a","daily":["07:05"]}]}"#
        let never = try Replayed("+0 machine synchronized off", five, "+1000 machine synchronized off")
        let raised = try #require(never.seconds(of: "alarm a raised").first)
        #expect(raised >= 600 && raised <= 630, "\(never.decisions)")
        let soon = try Replayed(
            "+0 machine synchronized off", five, "+120 machine synchronized on", "+1000 machine synchronized on")
        #expect(soon.seconds(of: "alarm a raised") == [300], "\(soon.decisions)")
    }

    @Test("an alarm that is due while the machine sleeps fires at the resume, within thirty seconds")
    func sleeps() throws {
        let played = try Replayed(eight, "+1800 machine sleep 7200", "+1000 machine synchronized on")
        let raised = try #require(played.seconds(of: "alarm pill raised").first)
        #expect(raised >= 1_800 && raised <= 1_830, "\(played.decisions)")
        #expect(played.values("due", of: "alarm.fired") == ["2026-11-21T08:00:00.000000Z"])
    }

    // MARK: New beginnings

    @Test("a bridge that begins anew has the alarms that handlers ordered, to the second")
    func restartKeepsAlarms() throws {
        let played = try Replayed(ordering, tea, "+100 machine restart", "+1000 machine synchronized on")
        #expect(played.seconds(of: "terminating finished") == [101])
        #expect(played.seconds(of: "alarm tea raised") == [601], "\(played.decisions)")
    }

    @Test("an event that was open when the bridge ended comes again, marked, from the bridge that begins anew")
    func restartKeepsEvents() throws {
        let played = try Replayed(
            "+1 1 data 2a37 01", "+1 machine restart", "+60 1 data 2a37 02", work: .seconds(5),
            settings: .forWholeTrace(durability: .run))
        let data = played.lines.filter { $0["type"]?.string == "wakebridge.device.data" }
        #expect(data.compactMap { $0["seq"]?.integer } == [1, 1, 2], "\(played.decisions)")
        #expect(data.map { $0["redelivered"]?.boolean ?? false } == [false, true, false])
    }

    @Test("an operator's stop outlives a restart, and nothing is raised for the stopped handler")
    func restartKeepsStop() throws {
        let played = try Replayed(
            ordering, tea, "+1 handler w stop", "+1 machine restart", "+1000 handler w start",
            "+100 machine synchronized on")
        #expect(played.seconds(of: "alarm tea raised") == [1_003], "\(played.decisions)")
    }

    @Test("after a reboot an alarm is due when it would have been, by the wall clock")
    func rebootKeepsAlarms() throws {
        let played = try Replayed(ordering, tea, "+100 machine reboot 60", "+1000 machine synchronized on")
        #expect(played.values("due", of: "alarm.fired") == ["2026-11-21T07:10:01.000000Z"], "\(played.lines)")
        #expect(played.times(of: "alarm.fired") == ["2026-11-21T07:10:01.000000Z"], "\(played.decisions)")
    }

    @Test(
        "a reboot loses what is kept in the runtime directory, and tells so in a gap; what is on the disk comes again",
        arguments: [(Durability.run, 0, 1), (.disk, 1, 0)])
    func rebootLoses(durability: Durability, again: Int, gaps: Int) throws {
        let played = try Replayed(
            "+1 1 data 2a37 01", "+1 machine reboot 60", "+60 machine synchronized on", work: .seconds(5),
            settings: .forWholeTrace(durability: durability))
        #expect(played.lines.count { $0["redelivered"]?.boolean == true } == again, "\(played.lines)")
        #expect(played.values("cause", of: "device.gap") == Array(repeating: "bridge-restart", count: gaps))
    }

    @Test("a gate that had opened is open for a bridge that begins anew, and closed again after a reboot")
    func gates() throws {
        func played(_ line: String) throws -> Replayed {
            try Replayed(
                #"+0 handler w manifest {"after":["mount:/data"],"alarms":[{"id":"tick","every":"10m"}]}"#,
                "+10 machine condition mount:/data off", "+10 \(line)", "+1000 machine synchronized on")
        }
        #expect(try played("machine restart").seconds(of: "deliver") == [600])
        #expect(try played("machine reboot 60").seconds(of: "deliver") == [])
    }

    // MARK: The end

    @Test("a replay ends with what its last line began, and waits for nothing that is scheduled after it")
    func ends() throws {
        let played = try Replayed(eight, "+3590 handler w attach", "+0 handler w detach")
        #expect(played.seconds(of: "alarm pill raised") == [])
        #expect(played.outcome.length < .seconds(3_600))
    }

    @Test("a replay whose handlers never come to rest ends a day after its last line")
    func endsInTheEnd() throws {
        let manifest = #"+0 handler w manifest {"alarms":[{"id":"tick","every":"1m"}]}"#
        let played = try Replayed(manifest, "+59 machine synchronized on", work: .seconds(61))
        #expect(played.outcome.length <= .seconds(86_400 + 200), "\(played.outcome)")
    }
}
