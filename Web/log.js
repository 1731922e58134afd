// What a handler wrote: its latest lines in a drawer, and the last of its errors.
import { lines, part } from "./api.js";
import { button, make, openDialog } from "./dom.js";
import { clock } from "./format.js";
import { when } from "./state.js";

async function fetchLog(handler, amount) {
  const log = [];
  for await (const line of lines(`v1/logs?handler=${part(handler)}&lines=${amount}`)) log.push(line);
  return log.filter(({ text }) => text !== undefined);
}

/** The latest line on standard error, if it is among the latest lines. */
export async function lastError(handler) {
  const log = await fetchLog(handler, 50).catch(() => []);
  return log.findLast(({ stream }) => stream === "stderr")?.text;
}

export function openLog(handler) {
  const list = make("ol", { class: "log", role: "list", tabindex: "0", "aria-label": `Log lines of ${handler}` });
  const empty = make("p", { class: "empty" });
  const dialog = openDialog(`Log of ${handler}`, list, empty);
  dialog.classList.add("drawer");
  dialog.querySelector("h2").after(button("Close", () => dialog.close()));
  const stop = new AbortController();
  dialog.addEventListener("close", () => stop.abort());
  const show = async () => {
    const log = await fetchLog(handler, 200).catch(() => undefined);
    if (!log) return;
    const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
    list.replaceChildren(...log.map(row));
    empty.textContent = log.length ? "" : "It has written nothing yet.";
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  };
  when("status", show, { signal: stop.signal });
  show();
}

function row({ time, stream, text }) {
  return make("li", { class: stream }, time && make("span", { class: "when" }, clock(time)), " ", text);
}
