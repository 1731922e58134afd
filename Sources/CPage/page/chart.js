// Charts of numbers over time, drawn as SVG: a line within a band of least and most, and gaps shaded by cause.
import { button, draw, make, setText } from "./dom.js";
import { clock, duration, number, withUnit } from "./format.js";

const height = 168;
const margin = { left: 44, right: 8, top: 8, bottom: 22 };
const ticks = { "15m": 300, "24h": 21_600 };

export function sparkline(points, { width = 88, high = 24, most = 60 } = {}) {
  const shown = points.slice(-most);
  const svg = draw("svg", { class: "spark", viewBox: `0 0 ${width} ${high}`, "aria-hidden": "true" });
  if (shown.length < 2) return svg;
  const x = scale(shown[0][0], shown.at(-1)[0], 1, width - 1);
  const y = scale(...rangeOf(shown), high - 2, 2);
  svg.append(draw("path", { class: "line", d: pathOf(shown, x, y, []) }));
  return svg;
}

/** Two buttons, 15 minutes and 24 hours; `choose` is told which of "15m" and "24h" was pressed. */
export function spanChoice(choose) {
  const buttons = Object.entries({ "15m": "15 min", "24h": "24 h" }).map(([span, text]) =>
    button(text, ({ currentTarget }) => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === currentTarget));
      choose(span);
    }, { "aria-pressed": String(span === "15m") }));
  return make("div", { class: "choice" }, ...buttons);
}

/** A figure with its legend. It is read aloud as a sentence, and the arrow keys or a pointer move along it. */
export class Chart {
  #plot = draw("svg", { role: "img", height });
  #readout = make("p", { class: "readout" });
  #legend = make("ul", { class: "legend", role: "list" });
  #shown;
  #visible = [];
  #x;
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

  /** `shown` has label, unit, points, gaps, from, until (in seconds) and span, "15m" or "24h". */
  show(shown) {
    this.#shown = shown;
    this.#draw();
  }

  #draw() {
    const width = this.element.clientWidth;
    if (!width || !this.#shown) return;
    const { points, gaps, from, until, span, label, unit } = this.#shown;
    const visible = points.filter(([moment]) => moment >= from && moment <= until);
    const x = scale(from, until, margin.left, width - margin.right);
    const [least, most] = rangeOf(visible);
    const y = scale(least, most, height - margin.bottom, margin.top);
    const shades = gaps.filter((gap) => gap.until >= from && gap.from <= until)
      .map((gap) => ({ ...gap, until: Math.min(gap.until, until) }));
    this.#plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#plot.setAttribute("aria-label", summary(label, unit, visible, shades, span));
    this.#plot.replaceChildren(
      ...shades.map((gap) => shade(gap, x)),
      ...marksOf(least, most).flatMap((value) => horizontal(value, y(value), width)),
      ...momentsOf(from, until, ticks[span]).flatMap((moment) => vertical(moment, x(moment), width)),
      draw("path", { class: "band", d: bandOf(visible, x, y, shades) }),
      draw("path", { class: "line", d: pathOf(visible, x, y, shades) }),
      draw("line", { class: "cursor", y1: margin.top, y2: height - margin.bottom, visibility: "hidden" }),
    );
    this.#visible = visible;
    this.#x = x;
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
    const cursor = this.#plot.querySelector(".cursor");
    const point = this.#visible.find(([moment]) => moment === this.#moment);
    cursor?.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) return setText(this.#readout, latest(this.#visible, this.#shown?.unit));
    cursor.setAttribute("x1", this.#x(point[0]));
    cursor.setAttribute("x2", this.#x(point[0]));
    setText(this.#readout, `${clock(point[0] * 1000)}  ${reading(point, this.#shown.unit)}`);
  }
}

function nearest(points, placeOf, wanted) {
  const distance = (point) => Math.abs(placeOf(point) - wanted);
  return points.reduce((best, point) => (best && distance(best) <= distance(point) ? best : point), undefined);
}

function reading([, mean, least, most], unit) {
  const range = least < most ? ` (${number(least)} to ${number(most)})` : "";
  return withUnit(mean, unit) + range;
}

function latest(points, unit) {
  return points.length ? `last ${reading(points.at(-1), unit)}` : "no values in this time";
}

function summary(label, unit, points, gaps, span) {
  const words = span === "15m" ? "15 minutes" : "24 hours";
  if (!points.length) return `${label}: no values in the last ${words}`;
  const [least, most] = [Math.min(...points.map((point) => point[2])), Math.max(...points.map((point) => point[3]))];
  const holes = gaps.length ? `; ${gaps.length} ${gaps.length === 1 ? "gap" : "gaps"}` : "";
  const range = `${withUnit(points.at(-1)[1], unit)} now, ${number(least)} to ${number(most)}`;
  return `${label} in the last ${words}: ${range}${holes}`;
}

function scale(from, until, first, last) {
  const factor = (last - first) / (until - from || 1);
  return (value) => first + (value - from) * factor;
}

/** With some air above and below. */
function rangeOf(points) {
  if (!points.length) return [0, 1];
  const least = Math.min(...points.map((point) => point[2]));
  const most = Math.max(...points.map((point) => point[3]));
  const air = (most - least) * 0.08 || Math.abs(most) * 0.05 || 1;
  return [least - air, most + air];
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

/** Round moments of local time. */
function momentsOf(from, until, step) {
  const shift = new Date(from * 1000).getTimezoneOffset() * 60;
  const moments = [];
  const first = Math.ceil((from - shift) / step) * step + shift;
  for (let moment = first; moment <= until; moment += step) moments.push(moment);
  return moments;
}

function horizontal(value, y, width) {
  return [
    draw("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y, y2: y }),
    draw("text", { x: margin.left - 6, y: y + 4, "text-anchor": "end" }, number(value)),
  ];
}

function vertical(moment, x, width) {
  const isAtEdge = x > width - margin.right - 16;
  return [
    draw("line", { class: "grid", x1: x, x2: x, y1: margin.top, y2: height - margin.bottom }),
    draw("text", { x: isAtEdge ? width : x, y: height - 6, "text-anchor": isAtEdge ? "end" : "middle" }, hour(moment)),
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
    const times = same.length > 1 ? `, ${same.length} times` : "";
    const why = same.at(-1).why ? `: ${same.at(-1).why}` : "";
    return make("li", {}, make("span", { class: `swatch ${shadeName(cause)}`, "aria-hidden": "true" }),
      `${cause}, ${duration(seconds)}${times}${why}`);
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
