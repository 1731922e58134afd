// The broker or the other bridge goes and comes back: what handlers and operators hear of it.
import Testing
import WakeModel

@testable import WakeSources

@Suite("A broker or a bridge that goes and comes back")
struct RemoteAbsenceTests {
    private var kitchen = KitchenBridge()
    private static let uri = "/remote/kitchen" + KitchenBridge.strap

    private func why(_ follower: Follower) -> String? {
        follower.stream.blockingReason(of: Self.uri, through: "mqtt://hub:1883")
    }

    @Test("without the broker its devices are disconnected, once, and why names the broker and the fault")
    mutating func brokerAway() throws {
        var follower = Follower()
        #expect(why(follower) == "the broker mqtt://hub:1883 of bridge kitchen was not reached yet")
        follower.hear(.reached, .presence(isOnline: true))
        follower.hear([kitchen.connect()])
        #expect(why(follower) == nil)
        follower.hear(.lost(why: "connection refused"), .lost(why: "no route to host"))
        #expect(follower.removeStory() == ["+", "-broker-away"])
        let sentence = try #require(why(follower))
        #expect(sentence.contains("mqtt://hub:1883 of bridge kitchen is away since \(follower.now.rfc3339)"))
        #expect(sentence.hasSuffix("no route to host"))
    }

    @Test("when the broker is back, what was missed comes in order behind the connect")
    mutating func brokerBack() {
        var follower = Follower()
        follower.hear(.reached, .presence(isOnline: true))
        follower.hear([kitchen.connect(), kitchen.beat(61)])
        follower.hear(.lost(why: "reset"), .reached)
        #expect(follower.removeStory() == ["+", "61", "-broker-away"])
        follower.hear([kitchen.beat(62), kitchen.beat(63)])
        #expect(follower.story == ["+", "62", "63"])
    }

    @Test("a device that left meanwhile is connected, says what it had said, and is disconnected")
    mutating func leftMeanwhile() {
        var follower = Follower()
        follower.hear(.reached)
        follower.hear([kitchen.connect()])
        follower.hear(.lost(why: "reset"), .reached)
        follower.story = []
        follower.hear([kitchen.beat(62), kitchen.disconnect("remote-user")])
        follower.hear(.presence(isOnline: true), .availability(alias: "chest-strap", isOnline: false))
        #expect(follower.story == ["+", "62", "-remote-user"])
        #expect(why(follower)?.contains("not connected to bridge kitchen") == true)
    }

    @Test("the word that the bridge is there connects what was connected, though nothing is said")
    mutating func silentReturn() {
        var follower = Follower()
        follower.hear(.reached)
        follower.hear([kitchen.connect()])
        follower.hear(.lost(why: "reset"), .reached)
        follower.story = []
        #expect(why(follower)?.contains("has sent nothing") == true)
        follower.hear(.presence(isOnline: true))
        #expect(follower.story == ["+"])
    }

    @Test("a bridge that the broker misses disconnects its devices, and what is available after its return comes back")
    mutating func bridgeAway() {
        var follower = Follower()
        follower.hear(.reached, .presence(isOnline: true))
        follower.hear([kitchen.connect(), kitchen.beat(61)])
        follower.hear(.presence(isOnline: false))
        #expect(follower.removeStory() == ["+", "61", "-bridge-offline"])
        #expect(why(follower)?.contains("bridge kitchen is away from the broker") == true)
        follower.hear(.presence(isOnline: true))
        #expect(follower.story.isEmpty, "it may have ended its links")
        follower.hear(.availability(alias: "chest-strap", isOnline: true))
        #expect(follower.story == ["+"])
    }

    @Test("what a bridge says about its devices makes them known and connected before their first event")
    mutating func described() throws {
        let about = #"""
            {"device":"chest-strap","source":"/bluetooth/C0:F1:F2:F3:F4:01","profile":"heart-rate-monitor",
            "mode":"bluetooth-central","bonded":true,"session":"open"}
            """#
        let description = try #require(RemoteDescription(Array(about.utf8)))
        var follower = Follower()
        follower.hear(
            .reached, .availability(alias: "chest-strap", isOnline: true), .presence(isOnline: true),
            .described(alias: "chest-strap", description))
        #expect(follower.story == ["+"])
        #expect(follower.introduced.map(\.alias) == ["kitchen/chest-strap"])
        follower.hear([kitchen.beat(61)])
        #expect(follower.story == ["+", "61"] && follower.introduced.count == 1)
    }

    @Test("devices that were forgotten make room for others, and a name that came first stays with its device")
    mutating func forgotten() {
        var follower = Follower()
        follower.hear(.reached)
        for number in 1...RemoteStream.mostDevices + 5 {
            let alias = "d\(number)"
            follower.hear(
                .described(alias: alias, RemoteDescription(source: "/usb/\(number)", profile: nil, isBonded: true)),
                .forgotten(alias: alias))
        }
        #expect(follower.refusals.isEmpty)
        let strap = RemoteDescription(source: "/usb/1", profile: nil, isBonded: true)
        follower.hear(.described(alias: "old", strap), .described(alias: "new", strap), .forgotten(alias: "old"))
        let introduced = follower.introduced
        follower.hear(.described(alias: "new", strap))
        #expect(follower.introduced == introduced, "it is known, as it was not forgotten")
    }

    @Test("a connect that availability told before the stream is one connect")
    mutating func toldTwice() {
        var follower = Follower()
        follower.hear(.reached, .presence(isOnline: true))
        follower.hear([kitchen.connect(), kitchen.disconnect()])
        follower.hear(.presence(isOnline: false), .presence(isOnline: true))
        follower.hear(.availability(alias: "chest-strap", isOnline: true))
        follower.hear([kitchen.connect(), kitchen.beat(61)])
        #expect(follower.story == ["+", "-timeout", "+", "61"])
    }

    @Test("where its end is among what is missing, availability ends it")
    mutating func missedEnd() {
        var follower = Follower()
        follower.hear(.reached)
        follower.hear([kitchen.connect(), kitchen.beat(70, of: "/bluetooth/C0:F1:F2:F3:F4:02", alias: "second")])
        follower.hear(.availability(alias: "chest-strap", isOnline: false))
        follower.story = []
        kitchen.lose(1)
        follower.hear([kitchen.beat(71, of: "/bluetooth/C0:F1:F2:F3:F4:02", alias: "second")])
        #expect(follower.story == ["gap link 2-4", "-link-lost", "gap link 2-4", "71"])
    }
}
