// The devices: a line each with its latest value, and below it the chart, all values and what can be done with it.
import { post } from "./api.js";
import { Chart, spanChoice, sparkline } from "./chart.js";
import { refresh } from "./connection.js";
import { actions, button, carryOut, confirmed, make, openDialog, Rows, setMoment, setText, since } from "./dom.js";
import { number, withUnit } from "./format.js";
import { fetchHistory, History } from "./history.js";
import { openPairing } from "./pairing.js";
import { recordButton } from "./recording.js";
import { state, when } from "./state.js";

const list = document.getElementById("devices");
const filter = document.getElementById("device-filter");
const rows = new Rows(list, (device) => new DeviceRow(device));
const byName = new Map();

export function start() {
  when("status", update);
  when("joined", () => rows.all.forEach((row) => row.renew()));
  when("event", (event) => byName.get(event.source)?.hear(event));
  filter.addEventListener("input", update);
  document.getElementById("add").addEventListener("click", () => openPairing(refresh));
}

function update() {
  const wanted = filter.value.trim().toLowerCase();
  const fits = ({ alias, profile }) => `${alias} ${profile ?? ""}`.toLowerCase().includes(wanted);
  rows.update(state.status.devices.filter(fits), (device) => device.source);
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
    setText(this.#why, device.why ?? (word === "paused" || word === "free for phone" ? word : ""));
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
    await this.history.load();
    this.#plan();
  }

  hear(event) {
    this.history.add(event);
    if (event.type === "wakebridge.device.data") setMoment(this.#age, Date.parse(event.time));
    this.#plan();
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
    this.#value.replaceChildren(...(main?.value === undefined ? ["—"] : valueParts(main)));
    this.#spark.replaceChildren(...(main ? [sparkline(main.points)] : []));
    setText(this.#battery, battery ? withUnit(battery.value, battery.unit) : "");
    this.#battery.title = battery ? "battery" : "";
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

/** Histories are asked for as rows come into sight. */
const rowOf = new WeakMap();
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    rowOf.get(target).load();
  }
});

function valueParts({ value, unit }) {
  return [number(value), ...(unit ? [" ", make("small", {}, unit)] : [])];
}

/** What a row shows once it is opened. */
class DeviceDetails {
  #chart = new Chart();
  #values = make("dl", { class: "values" });
  #facts = make("p", { class: "facts" });
  #actions = make("div", { class: "actions" });
  #fields = make("select", { "aria-label": "Field of the chart" });
  #span = "15m";
  #day;
  #dayAt = 0;
  #kind;

  constructor(row) {
    this.row = row;
    this.#fields.addEventListener("change", () => this.showValues());
    this.element = make("div", { class: "details" },
      make("div", { class: "chart-head" }, this.#fields, spanChoice((span) => this.#choose(span))),
      this.#chart.element, this.#values, this.#actions, this.#facts);
    this.update(row.device);
    this.showValues();
  }

  update(device) {
    const { source, profile, mode, bonded, node } = device;
    const facts = [profile ?? "no profile", mode, source, node, bonded ? "bonded" : "not bonded"];
    setText(this.#facts, facts.filter(Boolean).join(" · "));
    // Buttons that stay the same are left alone, for one of them may have the focus.
    const kind = `${device.session} ${device.alias}`;
    if (this.#kind === kind) return;
    this.#kind = kind;
    this.#actions.replaceChildren(...this.#buttons(device));
  }

  showValues() {
    const { history } = this.row;
    showFields(this.#fields, history);
    const fields = [...history.fields.values()].filter((field) => field.value !== undefined);
    this.#values.replaceChildren(...fields.map(({ label, value, unit }) =>
      make("div", {}, make("dt", {}, label), make("dd", {}, withUnit(value, label === unit ? "" : unit)))));
    this.#showChart();
  }

  #showChart() {
    const { history } = this.row;
    const until = Date.now() / 1000;
    const isDay = this.#span === "24h";
    const source = isDay ? this.#day : history;
    const name = this.#fields.value;
    const field = isDay ? this.#day?.fields.find((each) => each.name === name) : history.fields.get(name);
    const { label, unit } = history.fields.get(name) ?? { label: "value", unit: "" };
    this.#chart.show({ label, unit, span: this.#span, points: field?.points ?? [], gaps: source?.gaps ?? [],
      from: until - (isDay ? 86_400 : 900), until });
    // By the minute, as the daemon keeps it.
    if (isDay && Date.now() > this.#dayAt + 60_000) this.#loadDay();
  }

  #choose(span) {
    this.#span = span;
    this.#showChart();
  }

  async #loadDay() {
    this.#dayAt = Date.now();
    this.#day = await carryOut(() => fetchHistory(this.row.device.source, "24h"));
    if (this.#day) this.#showChart();
  }

  #buttons({ alias, session }) {
    const set = (word, done) => () => order("session", { device: alias, session: word }, done);
    const switches = {
      open: [["Pause", "paused", `${alias} is paused: its link stays, and nothing is heard.`],
        ["Free for phone", "closed", `${alias} is free: its link is given up until you take it back.`]],
      paused: [["Go on", "open", `${alias} is heard again.`],
        ["Free for phone", "closed", `${alias} is free: its link is given up until you take it back.`]],
      closed: [["Take back", "open", `${alias} is connected again when it is near.`]],
    };
    return [
      ...(switches[session] ?? []).map(([text, word, done]) => button(text, set(word, done), { needs: "operate" })),
      recordButton(alias),
      button("Rename", () => rename(alias), { needs: "pair" }),
      button("Forget", () => forget(alias), { needs: "pair" }),
    ];
  }
}

function showFields(select, history) {
  const names = history.charted.map((field) => field.name);
  if (names.join() === [...select.options].map((option) => option.value).join()) return;
  const chosen = select.value || history.main?.name;
  select.replaceChildren(...history.charted.map(({ name, label }) => make("option", { value: name }, label)));
  if (names.includes(chosen)) select.value = chosen;
}

async function order(path, body, done) {
  await carryOut(() => post(`v1/devices/${path}`, body), done);
  await refresh();
}

function rename(alias) {
  const input = make("input", { name: "name", value: alias, required: true, maxlength: "64", autocomplete: "off" });
  const form = make("form", { method: "dialog" },
    make("label", {}, "New name", input),
    actions(make("button", { class: "strong" }, "Rename"), button("Cancel", () => dialog.close())));
  const dialog = openDialog(`Rename ${alias}`, form);
  form.addEventListener("submit", () => {
    const name = input.value.trim();
    order("name", { device: alias, name }, `${alias} is now ${name}.`);
  });
}

async function forget(alias) {
  const question = `Forget ${alias}? Its bond, its name and its session are removed.`;
  if (await confirmed(question, "Forget")) order("forget", { device: alias }, `${alias} is forgotten.`);
}
