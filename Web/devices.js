// The devices: for each a line or a card with its latest value, which opens to its details.
import { sparkline } from "./chart.js";
import { refresh } from "./connection.js";
import { DeviceDetails } from "./details.js";
import { make, Rows, setMoment, setText, since } from "./dom.js";
import { number, withUnit } from "./format.js";
import { History } from "./history.js";
import { batteryIcon } from "./icons.js";
import { openPairing } from "./pairing.js";
import { state, when } from "./state.js";

const list = document.getElementById("devices");
const filter = document.getElementById("device-filter");
const rows = new Rows(list, (device) => new DeviceRow(device));
const byName = new Map();
/** Fewer are found by looking. */
const leastToFilter = 8;

export function start() {
  when("status", update);
  when("joined", () => rows.all.forEach((row) => row.renew()));
  when("event", (event) => byName.get(event.source)?.hear(event));
  filter.addEventListener("input", update);
  document.getElementById("add").addEventListener("click", () => openPairing(refresh));
}

function update() {
  const { devices } = state.status;
  filter.hidden = devices.length < leastToFilter && !filter.value;
  const wanted = filter.value.trim().toLowerCase();
  const fits = ({ alias, profile }) => `${alias} ${profile ?? ""}`.toLowerCase().includes(wanted);
  rows.update(devices.filter(fits), (device) => device.source);
  byName.clear();
  for (const row of rows.all) byName.set(row.device.source, row);
  setText(document.getElementById("no-devices"), emptyText());
}

function emptyText() {
  if (rows.all.length) return "";
  return state.status.devices.length ? "No device has such a name." : "No device is known yet. To pair one, press Add.";
}

/** What the mark in front of a device means, in one word that style and screen readers share. */
function condition({ link, session }) {
  if (session === "paused") return "paused";
  if (session === "closed") return "free for phone";
  return link === "connected" ? "connected" : "not connected";
}

/** Why no value comes; nothing where one does. */
function reason(device) {
  const { why, profile, last_data: lastData } = device;
  if (why) return why;
  switch (condition(device)) {
    case "paused": return "paused: what it sends is not received";
    case "free for phone": return "free for the phone, until you take it back";
    case "not connected": return "not connected: out of reach, or switched off";
    default:
      if (!profile) return "connected, and no profile decodes what it sends";
      return lastData ? "" : "connected, and has sent nothing yet";
  }
}

class DeviceRow {
  #mark = make("span", { class: "mark" });
  #name = make("strong", { class: "name" });
  #value = make("span", { class: "value" });
  #spark = make("span", { class: "spark-place" });
  #age = since(null, { class: "age" });
  #battery = make("span", { class: "battery" });
  #why = make("span", { class: "why" });
  #details;
  #isPlanned = false;
  #ticked = 0;

  constructor(device) {
    this.device = device;
    this.history = new History(device.source);
    this.element = make("details", { class: "row device" },
      make("summary", {}, this.#mark, this.#name, this.#value, this.#spark, this.#age, this.#battery, this.#why));
    this.element.addEventListener("toggle", () => this.#toggle());
    seen.observe(this.element);
    rowOf.set(this.element, this);
  }

  update(device) {
    this.device = device;
    const word = condition(device);
    this.#mark.dataset.state = word.split(" ")[0];
    this.#mark.replaceChildren(make("span", { class: "unseen" }, word));
    setText(this.#name, device.alias);
    setText(this.#why, reason(device));
    this.#why.dataset.state = device.why ? "warning" : "note";
    setMoment(this.#age, device.last_data && Date.parse(device.last_data));
    this.#details?.update(device);
    this.#showValues();
  }

  /** Asks for the history again where the page may have missed something. */
  renew() {
    seen.unobserve(this.element);
    seen.observe(this.element);
  }

  async load() {
    await this.history.load({ hasSent: this.device.last_data !== null });
    this.#plan();
  }

  hear(event) {
    this.history.add(event);
    if (event.type === "wakebridge.device.data") {
      setMoment(this.#age, Date.parse(event.time));
      this.#tick();
    }
    this.#plan();
  }

  /** Its mark blinks as data comes, once a second at most. */
  #tick() {
    if (document.hidden || calm.matches || Date.now() < this.#ticked + 1000) return;
    this.#ticked = Date.now();
    this.#mark.animate([{ boxShadow: "0 0 0 0 currentColor" }, { boxShadow: "0 0 0 6px transparent" }], 700);
  }

  /** A fast device is drawn once a frame, and not at all in a hidden tab. */
  #plan() {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#showValues();
      this.#details?.showValues();
    });
  }

  #showValues() {
    const { main, battery } = this.history;
    this.#value.replaceChildren(...(main?.value === undefined ? [make("small", {}, "no value yet")] : valueParts(main)));
    this.#spark.replaceChildren(...(main?.points.length > 1 ? [sparkline(main)] : []));
    this.#battery.replaceChildren(...(battery ? [batteryIcon(battery.value), make("span", { class: "unseen" }, "battery "),
      make("span", { class: "percent" }, withUnit(battery.value, battery.unit, battery.digits))] : []));
  }

  #toggle() {
    if (this.element.open && !this.#details) {
      this.#details = new DeviceDetails(this);
      this.element.append(this.#details.element);
    } else if (!this.element.open) {
      this.#details?.element.remove();
      this.#details = undefined;
    }
  }
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Histories are asked for as rows come into sight. */
const rowOf = new WeakMap();
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    rowOf.get(target).load();
  }
});

function valueParts({ value, unit, digits }) {
  return [number(value, digits), ...(unit ? [" ", make("small", {}, unit)] : [])];
}
