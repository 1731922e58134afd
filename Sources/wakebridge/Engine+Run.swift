// Where the verb meets the engine.

func run(_ options: RunOptions) -> Int32 {
    Console.say("failed: this build has no engine behind 'run' yet")
    return 1
}
