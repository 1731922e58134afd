// A device that is opened: its chart, its further values, and what can be done with it.
import { post } from "./api.js";
import { Chart, rangeChoice, ranges } from "./chart.js";
import { refresh } from "./connection.js";
import { actions, button, carryOut, confirmed, make, openDialog, setText } from "./dom.js";
import { withUnit } from "./format.js";
import { fetchHistory } from "./history.js";
import { entry, menu } from "./menu.js";
import { stopButton } from "./recording.js";

export class DeviceDetails {
  #chart = new Chart();
  #values = make("dl", { class: "values" });
  #facts = make("p", { class: "facts" });
  #actions = make("div", { class: "actions" });
  #fields = make("select", { "aria-label": "Field of the chart" });
  #range = "15m";
  /** By the span: the daemon's latest answer, and when it was asked. */
  #kept = {};
  #kind;

  constructor(row) {
    this.row = row;
    this.#fields.addEventListener("change", () => this.showValues());
    this.element = make("div", { class: "details" },
      make("div", { class: "chart-head" }, this.#fields, rangeChoice((range) => this.#choose(range))),
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
    this.#actions.replaceChildren(...buttons(device));
  }

  showValues() {
    const { history } = this.row;
    showFields(this.#fields, history);
    // The row itself shows its value and its battery.
    const further = [...history.fields.values()].filter((field) =>
      field.value !== undefined && field !== history.main && field !== history.battery);
    this.#values.replaceChildren(...further.map(({ label, value, unit, digits }) =>
      make("div", {}, make("dt", {}, label), make("dd", {}, withUnit(value, label === unit ? "" : unit, digits)))));
    this.#showChart();
  }

  #showChart() {
    const { history } = this.row;
    const until = Date.now() / 1000;
    const { kept, seconds } = ranges[this.#range];
    const isLong = kept !== "15m";
    const asked = this.#kept[kept];
    const source = isLong ? asked?.answer : history;
    const name = this.#fields.value;
    const known = history.fields.get(name) ?? { label: "value", unit: "", digits: 0 };
    const field = isLong ? source?.fields.find((each) => each.name === name) : known;
    const { label, unit, digits } = known;
    this.#chart.show({ label, unit, digits, range: this.#range, points: field?.points ?? [], gaps: source?.gaps ?? [],
      from: until - seconds, until });
    // The daemon keeps a point a minute, or fewer.
    if (isLong && Date.now() > (asked?.at ?? 0) + 60_000) this.#load(kept);
  }

  #choose(range) {
    this.#range = range;
    this.#showChart();
  }

  async #load(kept) {
    const asked = (this.#kept[kept] ??= {});
    asked.at = Date.now();
    asked.answer = (await carryOut(() => fetchHistory(this.row.device.source, kept))) ?? asked.answer;
    if (asked.answer) this.#showChart();
  }
}

function showFields(select, history) {
  const names = history.charted.map((field) => field.name);
  select.hidden = names.length < 2;
  if (names.join() === [...select.options].map((option) => option.value).join()) return;
  const chosen = select.value || history.main?.name;
  select.replaceChildren(...history.charted.map(({ name, label }) => make("option", { value: name }, label)));
  if (names.includes(chosen)) select.value = chosen;
}

/** The order that most come for, and a menu of the others. */
function buttons({ alias, session }) {
  const set = (word, done) => () => order("session", { device: alias, session: word }, done);
  const [free, open] = [
    set("closed", `${alias} is free: its link is given up until you take it back.`),
    set("open", session === "closed" ? `${alias} is connected again when it is near.` : `${alias} is received again.`)];
  const first = {
    open: ["Free for phone", free, "Gives up the link, so that an app can connect."],
    paused: ["Go on", open, "What it sends is received again."],
    closed: ["Take back", open, "Connects to it again."],
  }[session];
  const { press: stop, begin } = stopButton(alias);
  const needs = "operate";
  const others = [
    ...(session === "open" ? [entry("Pause", "The link stays, and what it sends is ignored.",
      set("paused", `${alias} is paused: its link stays, and what it sends is ignored.`), { needs })] : []),
    ...(session === "paused" ? [entry("Free for phone", "Gives up the link, so that an app can connect.", free, { needs })] : []),
    entry("Record", "Saves what it sends as a file.", begin, { needs }),
    entry("Rename", "Handlers that watch it by name need the new one.", () => rename(alias), { needs: "pair" }),
    entry("Forget", "Removes its bond, its name and its session.", () => forget(alias), { needs: "pair", class: "bad" })];
  return [
    ...(first ? [button(first[0], first[1], { needs, class: "strong" })] : []),
    stop, ...menu("More", others, { needs, "aria-label": `More for ${alias}` }),
    ...(first ? [make("small", { "data-needs": needs }, first[2])] : [])];
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
