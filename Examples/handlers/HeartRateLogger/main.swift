// Runs the logger until stdin ends. Try it without a bridge: cat events.ndjson | ExampleHeartRate 3>/dev/null
import WakeHandler

BackgroundSession(delegate: HeartRateLogger()).run()
