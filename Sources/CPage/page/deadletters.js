// Events that no handler could work off: why, and whether they are tried again or dropped.
import { get, post } from "./api.js";
import { actions, button, carryOut, confirmed, make, report, setText, since } from "./dom.js";
import { count } from "./format.js";
import { state, when } from "./state.js";

const section = document.getElementById("dead-letters-section");
const list = document.getElementById("dead-letters");
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
  document.getElementById("replay-all").addEventListener("click", () => order("replay", { all: true }));
  document.getElementById("drop-all").addEventListener("click", async () => {
    if (await confirmed("Drop all dead letters? They are gone for good.", "Drop all")) order("drop", { all: true });
  });
}

async function load() {
  const answer = await get("v1/dead-letters").catch(() => undefined);
  if (!answer || !state.me.role) return;
  const letters = answer.dead_letters;
  section.hidden = letters.length === 0;
  setText(document.getElementById("dead-letter-count"), String(letters.length));
  list.replaceChildren(...letters.slice(-most).reverse().map(row));
}

function row({ seq, handler, device, time, reason }) {
  return make("li", { class: "dead-letter" },
    make("div", {},
      make("strong", {}, `${device ?? "event"} for ${handler}`), " ", since(Date.parse(time), { class: "age" }),
      make("p", { class: "why" }, reason)),
    actions(
      button("Replay", () => order("replay", { seq }), { needs: "operate", "aria-label": `Replay event ${seq}` }),
      button("Drop", () => order("drop", { seq }), { needs: "operate", "aria-label": `Drop event ${seq}` })));
}

async function order(verb, choice) {
  const answer = await carryOut(() => post(`v1/dead-letters/${verb}`, choice));
  const done = verb === "drop" ? "dropped" : "queued again";
  if (answer) report(`${count(answer.count, "event is", "events are")} ${done}.`);
  load();
}
