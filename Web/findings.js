// What the doctor finds: errors are shown with their fix to copy, and the rest at a press in the header.
import { get } from "./api.js";
import { button, make, report, setText } from "./dom.js";
import { sentence } from "./format.js";
import { announce, when } from "./state.js";

const summary = document.getElementById("health");
const list = document.getElementById("findings");
const panel = document.getElementById("findings-panel");
/** The doctor looks at the whole machine, so it is not asked often: what it found this lately still holds. */
const fresh = 120_000;
const nextLook = 600_000;
/** After a look that failed. */
const nextTry = 60_000;
const mostUnasked = 2;

let findings = [];
let foundAt = -Infinity;
let timer;
let isOpen = false;

export function start() {
  when("joined", () => ask(fresh));
  when("left", () => {
    clearTimeout(timer);
    show("no answer", "bad");
  });
  when("shut out", () => clearTimeout(timer));
  summary.addEventListener("click", () => {
    isOpen = !isOpen;
    summary.setAttribute("aria-expanded", String(isOpen));
    showPanel();
    ask(30_000);
  });
}

async function ask(age) {
  if (Date.now() < foundAt + age) return judge();
  clearTimeout(timer);
  try {
    ({ findings } = await get("v1/findings"));
    foundAt = Date.now();
    plan(nextLook);
    list.replaceChildren(...findings.map(row));
    judge();
    announce("findings", findings);
  } catch {
    show("not examined", "note");
    plan(nextTry);
  }
}

/** A hidden page asks for nothing, and asks when it is seen again. */
function plan(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(() => document.hidden || ask(fresh), milliseconds);
}

function severity({ level }) {
  return { error: "bad", warning: "warning" }[level] ?? "note";
}

const amountOf = (wanted) => findings.filter((finding) => severity(finding) === wanted).length;

function judge() {
  if (amountOf("bad")) show(`${amountOf("bad")} to fix`, "bad");
  else if (amountOf("warning")) show(`${amountOf("warning")} to look at`, "warning");
  else show("all well", "good");
}

function show(text, word) {
  summary.dataset.state = word;
  setText(summary, text);
  setText(document.getElementById("findings-none"), findings.length ? "" : "The doctor finds nothing to fix.");
  showPanel();
}

/** The first errors are shown without being asked for; more of them would hide the devices. */
function showPanel() {
  panel.hidden = !isOpen && !amountOf("bad");
  const shown = [...list.children].filter((element) => isOpen || element.dataset.state === "bad");
  const unasked = isOpen ? shown : shown.slice(0, mostUnasked);
  for (const element of list.children) element.hidden = !unasked.includes(element);
}

function row(finding) {
  const { what, why, fix } = finding;
  return make("li", { class: "finding", "data-state": severity(finding) },
    make("div", {}, make("strong", {}, sentence(what)), why ? make("p", {}, why) : undefined),
    fix ? remedy(fix) : undefined);
}

function remedy(fix) {
  const press = button("Copy", () => copy(fix), { "aria-label": `Copy the fix: ${fix}` });
  return make("div", { class: "fix" }, make("code", { tabindex: "0" }, fix), press);
}

/** Browsers let a page copy by itself only where the address is trusted; elsewhere the text is selected for you. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    report("The fix is copied.");
  } catch {
    const code = [...list.querySelectorAll("code")].find((element) => element.textContent === text);
    getSelection().selectAllChildren(code);
    report("The fix is selected; copy it with your keyboard or your browser's menu.");
  }
}
