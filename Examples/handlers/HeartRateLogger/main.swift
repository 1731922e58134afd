// Runs the logger until stdin ends. Try it without a bridge:
// cat Devices/heart-rate-monitor/expected.ndjson | .build/debug/ExampleHeartRate 3>/dev/null
import WakeHandler

BackgroundSession(delegate: HeartRateLogger()).run()
