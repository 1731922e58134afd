// Recording a device into a file, and playing such a file to a handler.
import { lines, part, pieces } from "./api.js";
import { actions, button, carryOut, make, openDialog, report, setText } from "./dom.js";
import { duration } from "./format.js";

/** Recordings under way, by device: they go on while their row is closed. */
const running = new Map();

/** It is seen while a recording runs, and ends it. */
export function stopButton(device) {
  const press = button("", () => running.get(device)?.stop.abort(), { class: "recording", needs: "operate" });
  const show = () => {
    const recording = running.get(device);
    press.hidden = !recording;
    if (recording) setText(press, `Stop recording (${duration((Date.now() - recording.begun) / 1000)})`);
  };
  const begin = () => running.has(device) || record(device, show);
  running.get(device)?.watchers.add(show);
  show();
  return { press, begin };
}

async function record(device, show) {
  const recording = { begun: Date.now(), stop: new AbortController(), watchers: new Set([show]) };
  const showAll = () => recording.watchers.forEach((watcher) => watcher());
  const ticking = setInterval(showAll, 1000);
  let text = "";
  running.set(device, recording);
  showAll();
  try {
    const { signal } = recording.stop;
    for await (const piece of pieces(`v1/recording?device=${part(device)}`, { signal })) text += piece;
  } catch (error) {
    if (error.name !== "AbortError") report(error.message, { isBad: true });
  }
  clearInterval(ticking);
  running.delete(device);
  showAll();
  const moment = new Date(recording.begun).toISOString().slice(0, 19).replaceAll(":", "");
  if (text) save(whole(text), `${device}-${moment}.trace`);
}

/** A trace ends with `end`; one that was stopped here has half a line in its place. */
function whole(text) {
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  return complete.endsWith("\nend\n") ? complete : `${complete}end\n`;
}

function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  report(`Saved as ${name}.`);
}

export function openReplay(handler) {
  const file = make("input", { type: "file", accept: ".trace,text/plain", required: true });
  const label = "What the program says";
  const output = make("ol", { class: "log", role: "list", tabindex: "0", "aria-label": label, hidden: true });
  const play = make("button", { class: "strong" }, "Replay");
  const form = make("form", {}, make("label", {}, "A recording, such as strap.trace", file),
    actions(play, button("Close", () => dialog.close())));
  const dialog = openDialog(`Replay a recording to ${handler}`,
    make("p", {}, "A separate process of the program gets the events."),
    make("p", {}, "The handler itself and the devices are left alone."), form, output);
  const stop = new AbortController();
  dialog.addEventListener("close", () => stop.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.replaceChildren();
    output.hidden = false;
    play.disabled = true;
    await carryOut(async () => playTo(handler, await file.files[0].text(), output, stop.signal));
    play.disabled = false;
  });
}

async function playTo(handler, trace, output, signal) {
  try {
    for await (const line of lines("v1/replay", { body: { handler, trace }, signal })) {
      output.append(make("li", {}, sentence(line)));
    }
    output.append(make("li", { class: "bridge" }, "The recording is over."));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

function sentence(line) {
  if (line.error) return [line.error.message, line.error.advice].filter(Boolean).join("; ");
  return line.text ?? line.note ?? JSON.stringify(line);
}
