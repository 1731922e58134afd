// The Bluetooth adapters: how many links each carries, which devices wait for room, and who scans.
import { make, Rows, setText } from "./dom.js";
import { state, when } from "./state.js";

const section = document.getElementById("adapters-section");
const rows = new Rows(document.getElementById("adapters"), () => new AdapterRow());

let scans = [];

export function start() {
  when("status", update);
  when("findings", (findings) => {
    scans = findings.filter((finding) => finding.code === "foreign-scan").map((finding) => finding.what);
    update();
  });
}

function update() {
  const { adapters } = state.status;
  section.hidden = adapters === null;
  rows.update(adapters ?? [], (adapter) => adapter.address);
}

class AdapterRow {
  #name = make("strong", { class: "name address" });
  #slots = make("span", { class: "slots", "aria-hidden": "true" });
  #links = make("span", {});
  #why = make("span", { class: "why" });
  #details = make("dl", { class: "details values" });

  constructor() {
    this.element = make("details", { class: "row adapter" },
      make("summary", {}, this.#name, this.#slots, this.#links, this.#why), this.#details);
  }

  update({ address, powered, links, most_links: most, waiting, scanning }) {
    setText(this.#name, address);
    this.#slots.replaceChildren(...Array.from({ length: Math.max(most ?? links, links) }, (_, place) =>
      make("i", { class: place < links ? "used" : "free" })));
    setText(this.#links, most ? `${links} of ${most} links` : `${links} ${links === 1 ? "link" : "links"}`);
    setText(this.#why, powered ? (waiting.length ? `${waiting.length} waiting` : "") : "off");
    this.#details.replaceChildren(
      ...fact("Has a link", linked(address)),
      ...fact("Waits for room", waiting.join(", ") || "none"),
      ...fact("Scans", scans.join("; ") || (scanning ? "the daemon, for broadcasts" : "no other program")),
      ...fact("Room for", most ? `${most} links, as it refused another` : "more: it has refused none"));
  }
}

function linked(address) {
  const { devices } = state.status;
  const names = devices.filter((device) => device.adapter === address && device.link === "connected");
  return names.map((device) => device.alias).join(", ") || "none";
}

function fact(term, description) {
  return [make("div", {}, make("dt", {}, term), make("dd", {}, description))];
}
