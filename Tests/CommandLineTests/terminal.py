# Runs a program on a terminal of its own and answers it: terminal.py '[["prompt", "answer"], …]' SECONDS PROGRAM WORD…
# Each answer takes so many seconds to think of.
import json
import os
import pty
import sys
import time

answers = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[3], sys.argv[3:])
seen, place = "", 0
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk.decode(errors="replace")
    while answers and answers[0][0] in seen[place:]:
        prompt, answer = answers.pop(0)
        place = seen.index(prompt, place) + len(prompt)
        time.sleep(float(sys.argv[2]))
        os.write(terminal, answer.encode())
sys.stdout.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
