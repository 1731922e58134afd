// Where the verb meets the engine.

func replay(_ options: ReplayOptions) -> Int32 {
    Console.say("failed: this build has no engine behind 'replay' yet")
    return 1
}
