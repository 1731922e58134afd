// What happens, as it happens: the newest first, with a pause, of one device or all; each opens to its raw JSON.
import { make, setText } from "./dom.js";
import { clock, eventText } from "./format.js";
import { when } from "./state.js";

const most = 200;
const list = document.getElementById("events");
const pause = document.getElementById("pause-events");
const choice = document.getElementById("event-device");
const empty = document.getElementById("no-events");

let isPaused = false;
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
  choice.addEventListener("change", () => {
    for (const row of list.children) row.hidden = !isWanted(row.dataset.device);
  });
}

function isWanted(device) {
  return !choice.value || choice.value === device;
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
    list.prepend(...waiting.reverse().map(rowOf));
    waiting = [];
    while (list.children.length > most) list.lastElementChild.remove();
    setText(empty, list.children.length ? "" : "Nothing has happened since the page was opened.");
  });
}

function rowOf(event) {
  if (event.gap) return make("li", { class: "row event" }, event.gap.message);
  const name = event.subject ?? event.source;
  const text = make("details", {},
    make("summary", {}, make("span", { class: "when" }, clock(event.time)), make("strong", { class: "name" }, name),
      make("span", { class: "what" }, eventText(event))));
  text.addEventListener("toggle", () => {
    if (text.open && text.children.length === 1) {
      text.append(make("pre", { tabindex: "0", "aria-label": "Raw JSON" }, JSON.stringify(event, null, 2)));
    }
  });
  const kind = event.type.split(".").at(-1);
  return make("li", { class: `event ${kind}`, "data-device": name, hidden: !isWanted(name) }, text);
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
}
