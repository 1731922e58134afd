// Works on events until the daemon closes the input.
import WakeHandler

let session = BackgroundSession()
try await session.process { event in try await work(on: event, session) }
