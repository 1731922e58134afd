// The latest values of each device: the history that the daemon keeps, and what events have told since.
import { get, part } from "./api.js";
import { count, digitsOf, fieldsOf, fieldWords } from "./format.js";

const span = 15 * 60;
/** Several values within a second become one point, so that a fast device costs no more than a slow one. */
const finest = 1;
const asideNames = /battery|signal|rssi/;

export class History {
  /** By name: label, unit, value, digits, points of [seconds, mean, least, most, how many]. */
  fields = new Map();
  gaps = [];
  #isQueued = false;

  constructor(device) {
    this.device = device;
  }

  /** The field that the device is for: the first number that is no battery's. */
  get main() {
    const fields = [...this.fields.values()];
    return fields.find((field) => typeof field.value === "number" && !asideNames.test(field.name)) ?? fields[0];
  }

  get battery() {
    return [...this.fields.values()].find((field) => /battery/.test(field.name) && typeof field.value === "number");
  }

  get charted() {
    return [...this.fields.values()].filter((field) => field.points.length > 0);
  }

  add({ type, time, data }) {
    const moment = Date.parse(time) / 1000;
    switch (type) {
      case "wakebridge.device.gap":
        return this.#addGap(data, time);
      case "wakebridge.device.disconnected":
        return this.#beginAbsence(moment, data.reason);
      case "wakebridge.device.connected":
        return this.#endAbsence(moment);
      case "wakebridge.device.data":
        this.#endAbsence(moment);
        return this.#addValues(moment, data.value);
    }
  }

  #addValues(moment, values) {
    for (const [name, value] of fieldsOf(values)) {
      const field = this.#field(name);
      field.value = value;
      if (typeof value !== "number") continue;
      field.digits = Math.max(field.digits, digitsOf(value));
      addPoint(field.points, moment, value);
    }
  }

  /** Until it is back, the gap ends at the edge of the chart. */
  #beginAbsence(from, reason) {
    if (this.#absence) return;
    this.#keep({ cause: "disconnected", why: `the link ended: ${reason}`, from, until: Infinity });
  }

  #endAbsence(moment) {
    if (this.#absence) this.#absence.until = moment;
  }

  get #absence() {
    return this.gaps.find((gap) => gap.until === Infinity);
  }

  /**
   * Replaces what is here by what the daemon knows. One at a time, so that a page with many devices asks calmly.
   * Who has sent something is looked for further back, if it was silent of late.
   */
  load({ hasSent }) {
    if (this.#isQueued) return;
    this.#isQueued = true;
    queue = queue.then(async () => {
      this.#isQueued = false;
      const known = await fetchHistory(this.device, "15m").catch(() => undefined);
      if (known) this.#replace(known);
      if (known && hasSent && this.main === undefined) await this.#loadLatest();
    });
    return queue;
  }

  /** Of a device that is silent for longer, what it sent last. */
  async #loadLatest() {
    const known = await fetchHistory(this.device, "24h").catch(() => undefined);
    for (const { name, points } of known?.fields ?? []) {
      if (points.length) this.#remember(this.#field(name), points);
    }
  }

  /** The least and the most are values as they were sent. */
  #remember(field, points) {
    for (const [, , least, most] of points) field.digits = Math.max(field.digits, digitsOf(least), digitsOf(most));
    field.value ??= points.at(-1)[1];
  }

  #replace({ fields, gaps, until }) {
    for (const { name, points } of fields.filter((each) => each.points.length)) {
      const field = this.#field(name);
      const newest = points.at(-1)?.[0] ?? 0;
      field.points = [...points, ...field.points.filter(([moment]) => moment > newest)];
      this.#remember(field, points);
    }
    // A device that is away has a gap that ends with the answer.
    const isOpen = (gap) => gap.cause === "disconnected" && gap.until >= until;
    const newer = this.gaps.filter((gap) => gap.from > until);
    this.gaps = [...gaps.map((gap) => (isOpen(gap) ? { ...gap, until: Infinity } : gap)), ...newer];
  }

  #field(name) {
    if (!this.fields.has(name)) this.fields.set(name, { name, points: [], digits: 0, ...fieldWords(name) });
    return this.fields.get(name);
  }

  #addGap({ cause, count: lost, from, to }, time) {
    const end = Date.parse(to ?? time) / 1000;
    const why = lost ? `${count(lost, "event", "events")} lost` : undefined;
    this.#keep({ cause, why, from: from ? Date.parse(from) / 1000 : end, until: end });
  }

  #keep(gap) {
    this.gaps = [...this.gaps.filter(({ until }) => until > gap.from - span), gap];
  }
}

let queue = Promise.resolve();

export function fetchHistory(device, spanWord) {
  return get(`v1/devices/history?device=${part(device)}&span=${spanWord}`);
}

function addPoint(points, moment, value) {
  const last = points.at(-1);
  if (last && moment < last[0] + finest) {
    const [, mean, least, most, amount = 1] = last;
    last.splice(1, 4, mean + (value - mean) / (amount + 1), Math.min(least, value), Math.max(most, value), amount + 1);
  } else {
    points.push([moment, value, value, value]);
  }
  while (points[0][0] < moment - span) points.shift();
}
