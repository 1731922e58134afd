// The Bluetooth adapters: in the header how many links they carry, and opened who has them, who waits and who scans.
import { make, Rows, setText } from "./dom.js";
import { count } from "./format.js";
import { icon } from "./icons.js";
import { state, when } from "./state.js";

const chip = document.getElementById("bluetooth");
const word = make("span", { class: "label" }, "Bluetooth ");
const figures = make("span", {});
const notes = make("span", { class: "label" });
const section = document.getElementById("adapters-section");
const rows = new Rows(document.getElementById("adapters"), () => new AdapterRow());

let scans = [];

export function start() {
  chip.append(icon("bluetooth"), make("span", {}, word, figures, notes));
  chip.addEventListener("click", () => {
    section.hidden = !section.hidden;
    chip.setAttribute("aria-expanded", String(!section.hidden));
  });
  when("status", update);
  when("findings", (findings) => {
    scans = findings.filter((finding) => finding.code === "foreign-scan").map((finding) => finding.what);
    update();
  });
}

function update() {
  const { adapters } = state.status;
  chip.hidden = !adapters;
  if (!adapters) section.hidden = true;
  rows.update(adapters ?? [], (adapter) => adapter.address);
  if (adapters) showChip(adapters);
}

function showChip(adapters) {
  const sum = (amount) => adapters.reduce((total, adapter) => total + amount(adapter), 0);
  const [links, waiting] = [sum((one) => one.links), sum((one) => one.waiting.length)];
  const off = adapters.filter((one) => !one.powered).length;
  const most = adapters.every((one) => one.most_links) && sum((one) => one.most_links);
  const carried = most ? `${links}/${most}` : count(links, "link", "links");
  chip.dataset.state = waiting || off ? "warning" : "note";
  setText(figures, !adapters.length ? "no adapter" : off === adapters.length ? "off" : carried);
  setText(notes, (waiting ? `, ${waiting} waiting` : "") + (off && off < adapters.length ? `, ${off} off` : ""));
  chip.setAttribute("aria-label", `Bluetooth ${figures.textContent}${notes.textContent}`);
}

class AdapterRow {
  #name = make("strong", { class: "name address" });
  #slots = make("span", { class: "slots", "aria-hidden": "true" });
  #links = make("span", {});
  #facts = make("dl", { class: "values" });

  constructor() {
    this.element = make("div", { class: "row adapter" },
      make("p", {}, this.#name, this.#slots, this.#links), this.#facts);
  }

  update({ address, powered, links, most_links: most, waiting, scanning }) {
    setText(this.#name, address);
    this.#slots.replaceChildren(...Array.from({ length: Math.max(most ?? links, links) }, (_, place) =>
      make("i", { class: place < links ? "used" : "free" })));
    const carried = most ? `${links} of ${most} links` : count(links, "link", "links");
    setText(this.#links, powered ? carried : "off");
    this.#facts.replaceChildren(
      fact("Has a link", linked(address)),
      fact("Waits for room", waiting.join(", ") || "none"),
      fact("Scans", scans.filter((what) => what.includes(address)).join("; ") || (scanning ? "the daemon, for broadcasts" : "no other program")),
      fact("Room for", most ? `${most} links, as it refused another` : "more: it has refused none"));
  }
}

function linked(address) {
  const { devices } = state.status;
  const names = devices.filter((device) => device.adapter === address && device.link === "connected");
  return names.map((device) => device.alias).join(", ") || "none";
}

function fact(term, description) {
  return make("div", {}, make("dt", {}, term), make("dd", {}, description));
}
