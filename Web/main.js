// Puts the page together, and says in its foot what it shows.
import * as adapters from "./adapters.js";
import * as connection from "./connection.js";
import * as deadLetters from "./deadletters.js";
import * as devices from "./devices.js";
import { keepTicking, setText } from "./dom.js";
import * as events from "./events.js";
import * as findings from "./findings.js";
import { duration } from "./format.js";
import * as handlers from "./handlers.js";
import * as login from "./login.js";
import { state, when } from "./state.js";
import * as theme from "./theme.js";
import * as view from "./view.js";

const roles = {
  read: "You may look. To operate, log in with a token of that role.",
  operate: "You may operate, and not add or remove devices.",
  pair: "You may do everything.",
};

for (const section of [theme, view, adapters, devices, handlers, events, deadLetters, findings]) section.start();
when("status", showFoot);
when("left", () => showConnection(false));
when("joined", () => showConnection(true));
showHost(location.hostname);
keepTicking();
await login.start();
connection.start();

function showHost(name) {
  setText(document.getElementById("host"), name);
  document.title = `${name} · WakeBridge`;
}

function showFoot({ bridge }) {
  if (bridge.host) showHost(bridge.host);
  setText(document.getElementById("version"), `WakeBridge ${bridge.version}, up ${duration(bridge.uptime_s)}`);
  setText(document.getElementById("role"), roles[state.me.role] ?? "");
  const docs = document.getElementById("docs");
  docs.hidden = !state.me.docs;
  if (state.me.docs) docs.href = state.me.docs;
}

function showConnection(isThere) {
  document.documentElement.classList.toggle("away", !isThere);
  const text = isThere ? "" : "The daemon cannot be reached. The page tries again by itself.";
  setText(document.getElementById("connection"), text);
}
