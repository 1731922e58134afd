// Handles events until the daemon closes the input.
import WakeHandler

await handle(BackgroundSession())
