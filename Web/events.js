// What happens, as it happens: the newest first. Values of a device in a row share one line, which is shown on request.
import { make, setText } from "./dom.js";
import { clock, eventText } from "./format.js";
import { when } from "./state.js";

const most = 200;
const mostShown = 20;
const mostValues = 100;
const list = document.getElementById("events");
const pause = document.getElementById("pause-events");
const values = document.getElementById("show-values");
const choice = document.getElementById("event-device");
const all = document.getElementById("all-events");

/** By device, the line that its next value joins. */
const runs = new Map();
let isPaused = false;
let isWhole = false;
let waiting = [];
let isPlanned = false;

export function start() {
  when("event", hear);
  when("status", ({ devices }) => showDevices(devices));
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    showPause();
    plan();
  });
  values.addEventListener("click", () => {
    values.setAttribute("aria-pressed", String(list.classList.toggle("values-too")));
    choose();
  });
  all.addEventListener("click", () => {
    isWhole = !isWhole;
    choose();
  });
  choice.addEventListener("change", choose);
  choose();
}

function hear(event) {
  waiting.push(event);
  if (waiting.length > most) waiting.shift();
  if (isPaused) showPause();
  else plan();
}

/** Once a frame, however many events there are. */
function plan() {
  if (isPlanned || isPaused) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    if (isPaused) return;
    for (const event of waiting) add(event);
    waiting = [];
    while (list.children.length > most) list.lastElementChild.remove();
    choose();
  });
}

function add(event) {
  const name = event.subject ?? event.source;
  const isData = event.type === "wakebridge.device.data";
  const run = runs.get(name);
  if (isData && run?.element.isConnected) return run.join(event);
  const row = event.gap ? { element: make("li", { class: "event lone" }, event.gap.message) } : new EventRow(event, name);
  list.prepend(row.element);
  if (isData) runs.set(name, row);
  else runs.delete(name);
}

/** Hides what is not asked for, and what is too much at once. */
function choose() {
  const showsValues = list.classList.contains("values-too");
  const wanted = [...list.children].filter((row) => {
    const isWanted = (!choice.value || choice.value === row.dataset.device)
      && (showsValues || !row.classList.contains("data"));
    if (!isWanted) row.hidden = true;
    return isWanted;
  });
  wanted.forEach((row, place) => (row.hidden = !isWhole && place >= mostShown));
  all.hidden = wanted.length <= mostShown;
  setText(all, isWhole ? `Show the latest ${mostShown}` : `Show all ${wanted.length}`);
  setText(document.getElementById("no-events"), wanted.length ? "" : emptyText(showsValues));
}

function emptyText(showsValues) {
  const hint = list.querySelector(".data") && !showsValues ? " To list what devices send, press Values." : "";
  return `${hint ? "Nothing but values came" : "Nothing has happened"} since the page was opened.${hint}`;
}

/** One event, or several values of a device in a row, the newest shown. */
class EventRow {
  #when = make("span", { class: "when" });
  #what = make("span", { class: "what" });
  #times = make("span", { class: "times" });
  #details;
  #events = [];
  #isStale = true;

  constructor(event, name) {
    this.#details = make("details", {}, make("summary", {}, this.#when, " ",
      make("strong", { class: "name" }, name), " ", this.#what, " ", this.#times));
    this.#details.addEventListener("toggle", () => this.#show());
    this.element = make("li", { class: `event ${event.type.split(".").at(-1)}`, "data-device": name }, this.#details);
    this.join(event);
  }

  join(event) {
    this.#events.push(event);
    this.count = (this.count ?? 0) + 1;
    if (this.#events.length > mostValues) this.#events.shift();
    setText(this.#when, clock(event.time));
    setText(this.#what, eventText(event));
    setText(this.#times, this.count > 1 ? `×${this.count}` : "");
    this.#isStale = true;
  }

  /** An open row stays as it is read, and shows the latest when it is opened again. */
  #show() {
    if (!this.#details.open || !this.#isStale) return;
    this.#isStale = false;
    const before = this.#events.slice(0, -1).reverse();
    const rows = before.map((event) => make("li", {}, make("span", { class: "when" }, clock(event.time)), " ", eventText(event)));
    const raw = JSON.stringify(this.#events.at(-1), null, 2);
    while (this.#details.children.length > 1) this.#details.lastElementChild.remove();
    this.#details.append(make("pre", { tabindex: "0", "aria-label": "Raw JSON" }, raw),
      ...(rows.length ? [make("ol", { class: "run", role: "list" }, ...rows)] : []));
  }
}

function showPause() {
  const more = isPaused && waiting.length ? ` (${waiting.length} new)` : "";
  setText(pause, (isPaused ? "Go on" : "Pause") + more);
  pause.setAttribute("aria-pressed", String(isPaused));
}

function showDevices(devices) {
  const names = ["", ...devices.map((device) => device.alias)];
  if (names.join("\n") === [...choice.options].map((option) => option.value).join("\n")) return;
  const chosen = choice.value;
  choice.replaceChildren(...names.map((name) => make("option", { value: name }, name || "All devices")));
  choice.value = names.includes(chosen) ? chosen : "";
  choose();
}
