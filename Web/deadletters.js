// Events that no handler could work off: a line for each handler, and in it each event with its reason.
import { get, post } from "./api.js";
import { actions, button, carryOut, confirmed, make, report, since } from "./dom.js";
import { count } from "./format.js";
import { state, when } from "./state.js";

const section = document.getElementById("undelivered");
const most = 100;
let seen;

export function start() {
  when("joined", load);
  // Handlers say in the status how often they failed; so the letters need no question of their own while all is well.
  when("status", ({ handlers }) => {
    const sign = JSON.stringify(handlers.map((handler) => [handler.id, handler.strikes, handler.work?.failed]));
    if (seen !== undefined && sign !== seen) load();
    seen = sign;
  });
}

async function load() {
  const answer = await get("v1/dead-letters").catch(() => undefined);
  if (!answer || !state.me.role) return;
  const groups = Map.groupBy(answer.dead_letters, (letter) => letter.handler);
  section.hidden = groups.size === 0;
  section.replaceChildren(...[...groups].map(([handler, letters]) => line(handler, letters)));
}

function line(handler, letters) {
  const devices = [...new Set(letters.map((letter) => letter.device ?? ""))];
  const from = devices.length === 1 && devices[0] ? ` from ${devices[0]}` : "";
  const amount = devices.includes("") ? count(letters.length, "event", "events")
    : count(letters.length, "reading", "readings");
  return make("div", { class: "undelivered" },
    make("details", {},
      make("summary", {}, make("span", {}, make("strong", {}, `${amount}${from}`), ` could not be delivered to ${handler}`,
        make("small", {}, ` (${letters.at(-1).reason})`))),
      make("ul", { role: "list" }, ...letters.slice(-most).reverse().map(row))),
    choices({ handler }, `all events for ${handler}`, `Discard ${amount}${from} for ${handler}?`));
}

function row({ seq, device, time, reason }) {
  return make("li", {},
    make("p", {}, make("strong", {}, device ?? "event"), " ", since(Date.parse(time), { class: "age" }), ` ${reason}`),
    choices({ seq }, `event ${seq}`, `Discard this event of ${device ?? "the bridge"}?`));
}

function choices(chosen, name, question) {
  const discard = async () => {
    if (await confirmed(`${question} It is lost for good.`, "Discard")) order("drop", chosen);
  };
  return actions(
    button("Retry", () => order("replay", chosen), { needs: "operate", "aria-label": `Retry ${name}` }),
    button("Discard", discard, { needs: "operate", "aria-label": `Discard ${name}` }));
}

async function order(verb, choice) {
  const answer = await carryOut(() => post(`v1/dead-letters/${verb}`, choice));
  const done = verb === "drop" ? "discarded" : "queued again";
  if (answer) report(`${count(answer.count, "event is", "events are")} ${done}.`);
  load();
}
