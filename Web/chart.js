// Charts of numbers over time, drawn as SVG: a line within a band of least and most, and gaps shaded by cause.
import { choice, draw, make, setText } from "./dom.js";
import { causeText, clock, count, duration, number, withUnit } from "./format.js";

const height = 176;
const margin = { left: 44, right: 8, top: 22, bottom: 22 };

/** How far back a chart reaches, and by `kept` which span of the daemon it is drawn from. */
export const ranges = {
  "15m": { text: "15 min", words: "15 minutes", seconds: 900, tick: 300, kept: "15m" },
  "1h": { text: "1 h", words: "hour", seconds: 3600, tick: 900, kept: "24h" },
  "6h": { text: "6 h", words: "6 hours", seconds: 21_600, tick: 3600, kept: "24h" },
  "24h": { text: "24 h", words: "24 hours", seconds: 86_400, tick: 21_600, kept: "24h" },
  "7d": { text: "7 d", words: "7 days", seconds: 604_800, tick: 86_400, kept: "7d" },
};

/** A scale shows no less than this of its unit, so that a calm value looks calm. */
const leastSpan = {
  bpm: 20, "°C": 2, "°F": 4, "%": 10, hPa: 6, mbar: 6, kg: 2, lb: 4, "mmol/L": 2, "mg/dL": 40, ppm: 200, ppb: 100, V: 0.5,
  mV: 100, A: 0.5, mA: 50, W: 20, kWh: 0.2, dBm: 20, lx: 100, rpm: 20, "km/h": 4, "m/s": 1, mmHg: 20, "µg/m³": 10,
};

export function sparkline({ points, unit }, { width = 88, high = 24, most = 60 } = {}) {
  const shown = points.slice(-most);
  const svg = draw("svg", { class: "spark", viewBox: `0 0 ${width} ${high}`, "aria-hidden": "true" });
  if (shown.length < 2) return svg;
  const x = scale(shown[0][0], shown.at(-1)[0], 1, width - 1);
  const y = scale(...rangeOf(shown, unit), high - 2, 2);
  svg.append(draw("path", { class: "line", d: pathOf(shown, x, y, []) }));
  return svg;
}

/** A button for each of the ranges; `choose` gets the word of the one that is pressed. */
export function rangeChoice(choose, words = Object.keys(ranges)) {
  const texts = Object.fromEntries(words.map((word) => [word, ranges[word].text]));
  return choice("Range of time", texts, "15m", choose);
}

/** A figure with its legend. It is read aloud as a sentence, and the arrow keys or a pointer move along it. */
export class Chart {
  #plot = draw("svg", { role: "img", height });
  #readout = make("p", { class: "readout", hidden: true });
  #legend = make("ul", { class: "legend", role: "list" });
  #shown;
  #visible = [];
  #x;
  #y;
  /** The moment that is pointed at; undefined for none. */
  #moment;

  constructor() {
    this.element = make("figure", { class: "chart", tabindex: "0", role: "group", "aria-label": "Chart" },
      this.#readout, this.#plot, this.#legend);
    this.element.addEventListener("pointermove", ({ clientX }) => this.#pointAt(clientX));
    this.element.addEventListener("pointerleave", () => this.#point(undefined));
    this.element.addEventListener("blur", () => this.#point(undefined));
    this.element.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.#draw()).observe(this.element);
  }

  /** `shown` has label, unit, digits, points, gaps, from, until (in seconds) and a word of the ranges. */
  show(shown) {
    this.#shown = shown;
    this.#draw();
  }

  #draw() {
    const width = this.element.clientWidth;
    if (!width || !this.#shown) return;
    const { points, gaps, from, until, range, label, unit } = this.#shown;
    const visible = points.filter(([moment]) => moment >= from && moment <= until);
    const x = scale(from, until, margin.left, width - margin.right);
    const [least, most] = rangeOf(visible, unit);
    const y = scale(least, most, height - margin.bottom, margin.top);
    const shades = gaps.filter((gap) => gap.until >= from && gap.from <= until)
      .map((gap) => ({ ...gap, until: Math.min(gap.until, until) }));
    this.#plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#plot.setAttribute("aria-label", summary(this.#shown, visible, shades));
    this.#plot.replaceChildren(
      ...shades.map((gap) => shade(gap, x)),
      ...marksOf(least, most).flatMap((value) => horizontal(value, y(value), width)),
      draw("text", { class: "unit", x: 2, y: 12 }, unit && label !== unit ? `${label}, ${unit}` : unit || label),
      ...momentsOf(from, until, ranges[range].tick).flatMap((moment) => vertical(moment, x(moment), width, range)),
      draw("path", { class: "band", d: bandOf(visible, x, y, shades) }),
      draw("path", { class: "line", d: pathOf(visible, x, y, shades) }),
      draw("line", { class: "cursor", y1: margin.top, y2: height - margin.bottom, visibility: "hidden" }),
      draw("circle", { class: "dot", r: 4, visibility: "hidden" }),
    );
    this.#visible = visible;
    this.#x = x;
    this.#y = y;
    this.#showPoint();
    this.#legend.replaceChildren(...legendOf(shades));
  }

  #pointAt(clientX) {
    const wanted = clientX - this.#plot.getBoundingClientRect().left;
    this.#point(nearest(this.#visible, ([moment]) => this.#x(moment), wanted)?.[0]);
  }

  #step(event) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way || !this.#visible.length) return;
    event.preventDefault();
    const place = this.#visible.findIndex(([moment]) => moment === this.#moment);
    const next = place < 0 ? this.#visible.length - 1 : Math.max(0, Math.min(this.#visible.length - 1, place + way));
    // Who steps with the keys wants to hear each value, and no other.
    this.#readout.setAttribute("aria-live", "polite");
    this.#point(this.#visible[next][0]);
  }

  #point(moment) {
    if (moment === undefined) this.#readout.removeAttribute("aria-live");
    this.#moment = moment;
    this.#showPoint();
  }

  #showPoint() {
    const point = this.#visible.find(([moment]) => moment === this.#moment);
    for (const mark of this.#plot.querySelectorAll(".cursor, .dot")) {
      mark.setAttribute("visibility", point ? "visible" : "hidden");
    }
    this.#readout.hidden = !point;
    const hasSeconds = this.#shown?.range === "15m";
    setText(this.#readout, point ? `${clock(point[0] * 1000, { hasSeconds })}  ${reading(point, this.#shown)}` : "");
    if (point) this.#placeMarks(this.#x(point[0]), this.#y(point[1]));
  }

  #placeMarks(x, y) {
    const [cursor, dot] = [this.#plot.querySelector(".cursor"), this.#plot.querySelector(".dot")];
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, x);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    const most = this.element.clientWidth - this.#readout.offsetWidth;
    this.#readout.style.left = `${Math.max(0, Math.min(most, x - this.#readout.offsetWidth / 2))}px`;
  }
}

function nearest(points, placeOf, wanted) {
  const distance = (point) => Math.abs(placeOf(point) - wanted);
  return points.reduce((best, point) => (best && distance(best) <= distance(point) ? best : point), undefined);
}

function reading([, mean, least, most], { unit, digits }) {
  const range = least < most ? ` (${number(least, digits)} to ${number(most, digits)})` : "";
  return withUnit(mean, unit, digits) + range;
}

function summary({ label, unit, digits, range }, points, gaps) {
  const { words } = ranges[range];
  if (!points.length) return `${label}: no values in the last ${words}`;
  const [least, most] = [Math.min(...points.map((point) => point[2])), Math.max(...points.map((point) => point[3]))];
  const holes = gaps.length ? `; ${count(gaps.length, "gap", "gaps")}` : "";
  const now = withUnit(points.at(-1)[1], unit, digits);
  return `${label} in the last ${words}: ${now} now, ${number(least, digits)} to ${number(most, digits)}${holes}`;
}

function scale(from, until, first, last) {
  const factor = (last - first) / (until - from || 1);
  return (value) => first + (value - from) * factor;
}

/** With some air above and below, and no less than the unit's least span. */
function rangeOf(points, unit) {
  if (!points.length) return [0, 1];
  const least = Math.min(...points.map((point) => point[2]));
  const most = Math.max(...points.map((point) => point[3]));
  const middle = (least + most) / 2;
  const needed = leastSpan[unit] ?? (Math.abs(middle) * 0.1 || 1);
  const half = Math.max((most - least) * 1.16, needed) / 2;
  return [middle - half, middle + half];
}

/** Round values for the scale on the left. */
function marksOf(least, most) {
  const rough = (most - least) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const marks = [];
  for (let value = Math.ceil(least / step) * step; value <= most; value += step) {
    marks.push(Number(value.toPrecision(12)));
  }
  return marks;
}

/** Round moments of local time, of which a day may have 23 or 25 hours. */
function momentsOf(from, until, step) {
  const shift = (moment) => new Date(moment * 1000).getTimezoneOffset() * 60;
  const moments = [];
  for (let local = Math.ceil((from - shift(from)) / step) * step; ; local += step) {
    const moment = local + shift(local + shift(from));
    if (moment > until) return moments;
    moments.push(moment);
  }
}

function horizontal(value, y, width) {
  return [
    draw("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y, y2: y }),
    draw("text", { x: margin.left - 6, y: y + 4, "text-anchor": "end" }, number(value)),
  ];
}

function vertical(moment, x, width, range) {
  const text = range === "7d" ? weekday(moment) : hour(moment);
  const isAtEdge = x > width - margin.right - 16;
  return [
    draw("line", { class: "grid", x1: x, x2: x, y1: margin.top, y2: height - margin.bottom }),
    draw("text", { x: isAtEdge ? width : x, y: height - 6, "text-anchor": isAtEdge ? "end" : "middle" }, text),
  ];
}

function shade(gap, x) {
  const left = Math.max(margin.left, x(gap.from));
  const width = Math.max(2, x(gap.until) - left);
  return draw("rect", { class: `gap ${shadeName(gap.cause)}`, x: left, y: margin.top, width,
    height: height - margin.top - margin.bottom });
}

function hour(moment) {
  return clock(moment * 1000, { hasSeconds: false }).split(" ").at(-1);
}

function weekday(moment) {
  return new Date(moment * 1000).toLocaleDateString(undefined, { weekday: "short" });
}

/** One of five shades, the same for a cause each time; a sixth for what was never recorded. */
function shadeName(cause) {
  if (cause === "not-recorded") return "unrecorded";
  const sum = [...cause].reduce((total, letter) => total + letter.codePointAt(0), 0);
  return `shade-${sum % 5}`;
}

function legendOf(gaps) {
  return [...new Set(gaps.map((gap) => gap.cause))].map((cause) => {
    const same = gaps.filter((gap) => gap.cause === cause);
    const seconds = same.reduce((sum, gap) => sum + gap.until - gap.from, 0);
    const length = seconds > 0 ? ` for ${duration(seconds)}` : "";
    const times = same.length > 1 ? `, ${same.length} times` : "";
    const why = same.at(-1).why ? `: ${same.at(-1).why}` : "";
    return make("li", {}, make("span", { class: `swatch ${shadeName(cause)}`, "aria-hidden": "true" }),
      `${causeText(cause)}${length}${times}${why}`);
  });
}

/** Pieces of the points between which no gap lies and no long silence. */
function runsOf(points, gaps) {
  const steps = points.slice(1).map((point, index) => point[0] - points[index][0]).sort((one, other) => one - other);
  const longest = Math.max(5, (steps[Math.floor(steps.length / 2)] ?? 0) * 5);
  const runs = [];
  points.forEach((point, index) => {
    const before = points[index - 1];
    const isCut = before && gaps.some((gap) => gap.from < point[0] && gap.until > before[0]);
    if (!before || isCut || point[0] - before[0] > longest) runs.push([]);
    runs.at(-1).push(point);
  });
  return runs;
}

const at = (x, y) => `${x.toFixed(1)},${y.toFixed(1)}`;

function pathOf(points, x, y, gaps) {
  return runsOf(points, gaps).map((run) => {
    const places = run.map((point) => at(x(point[0]), y(point[1])));
    // A run of one is a dot.
    return `M${places.length > 1 ? places.join("L") : `${places[0]}h0.1`}`;
  }).join("");
}

function bandOf(points, x, y, gaps) {
  return runsOf(points, gaps).filter((run) => run.length > 1).map((run) => {
    const above = run.map((point) => at(x(point[0]), y(point[3])));
    const below = run.map((point) => at(x(point[0]), y(point[2]))).reverse();
    return `M${[...above, ...below].join("L")}Z`;
  }).join("");
}
