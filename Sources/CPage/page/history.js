// The latest values of each device: the history that the daemon keeps, and what events have told since.
import { get, part } from "./api.js";
import { fieldsOf, fieldWords } from "./format.js";

const span = 15 * 60;
/** Several values within a second become one point, so that a fast device costs no more than a slow one. */
const finest = 1;
const asideNames = /battery|signal|rssi/;

export class History {
  /** By name: label, unit, value, points of [seconds, mean, least, most, how many]. */
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
    if (type === "wakebridge.device.gap") this.#addGap(data, time);
    if (type !== "wakebridge.device.data") return;
    const moment = Date.parse(time) / 1000;
    for (const [name, value] of fieldsOf(data.value)) {
      const field = this.#field(name);
      field.value = value;
      if (typeof value === "number") addPoint(field.points, moment, value);
    }
  }

  /** Replaces what is here by what the daemon knows. One at a time, so that a page with many devices asks calmly. */
  load() {
    if (this.#isQueued) return;
    this.#isQueued = true;
    queue = queue.then(async () => {
      this.#isQueued = false;
      this.#replace(await fetchHistory(this.device, "15m").catch(() => ({ fields: [], gaps: [] })));
    });
    return queue;
  }

  #replace({ fields, gaps }) {
    for (const { name, points } of fields) {
      const field = this.#field(name);
      const newest = points.at(-1)?.[0] ?? 0;
      field.points = [...points, ...field.points.filter(([moment]) => moment > newest)];
      field.value ??= points.at(-1)?.[1];
    }
    this.gaps = gaps;
  }

  #field(name) {
    if (!this.fields.has(name)) this.fields.set(name, { name, points: [], ...fieldWords(name) });
    return this.fields.get(name);
  }

  #addGap({ cause, from, to }, time) {
    const end = Date.parse(to ?? time) / 1000;
    this.gaps.push({ cause, from: from ? Date.parse(from) / 1000 : end, until: end });
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
