// When a handler was awake, frozen or held, and when its process ended: a band over time, and what it used.
import { draw, make } from "./dom.js";
import { clock, count, duration, percent } from "./format.js";

const width = 1000;
const height = 34;
const words = { awake: "awake", frozen: "frozen", held: "held", none: "no process" };

/** A figure of an answer of `v1/handlers/ID/timeline`. */
export function timelineFigure(answer) {
  return make("figure", { class: "timeline" },
    band(answer),
    make("div", { class: "scale", "aria-hidden": "true" },
      ...[answer.from, (answer.from + answer.until) / 2, answer.until].map((moment) =>
        make("span", {}, clock(moment * 1000, { hasSeconds: false })))),
    make("ul", { class: "legend", role: "list" },
      ...Object.entries(words).map(([state, word]) =>
        make("li", {}, make("span", { class: `swatch ${state}`, "aria-hidden": "true" }), word)),
      make("li", {}, make("span", { class: "swatch end", "aria-hidden": "true" }), "process ended")),
    budget(answer),
    ends(answer));
}

function band({ from, until, spans, ends: ended, awake_ratio: ratio }) {
  const x = (moment) => ((Math.max(from, Math.min(until, moment)) - from) / (until - from)) * width;
  const label = `awake ${percent(ratio)} of the time, ${count(ended.length, "process", "processes")} ended`;
  return draw("svg", { class: "band-chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": label },
    ...spans.map((span) =>
      draw("rect", { class: span.state, x: x(span.from), y: 4, height: height - 8,
        // A wake of milliseconds would be too thin to see.
        width: Math.max(span.state === "awake" ? 3 : 0, x(span.until) - x(span.from)) })),
    ...ended.map((end) => draw("rect", { class: "end", x: x(end.time) - 2, y: 0, width: 4, height })));
}

function budget({ spans, budget_ms: budgetMs, awake_ms: awakeMs, awake_ratio: ratio }) {
  const wakes = spans.filter((span) => span.state === "awake").map((span) => span.until - span.from);
  const longest = Math.max(0, ...wakes);
  const seconds = budgetMs / 1000;
  const text = `Longest wake ${duration(longest)} of a budget of ${duration(seconds)}`;
  return make("div", { class: "budget" },
    make("meter", { "aria-label": text, min: "0", max: String(seconds), high: String(seconds * 0.8),
      value: String(Math.min(longest, seconds)) }),
    make("p", {}, `${text}. Awake ${duration(awakeMs / 1000)} in all, ${percent(ratio)}.`));
}

function ends({ ends: ended }) {
  if (!ended.length) return undefined;
  return make("ul", { class: "ends", role: "list" },
    ...ended.slice(-5).reverse().map(({ time, what, why }) =>
      make("li", {}, `${clock(time * 1000)} ${what}${why ? `: ${why}` : ""}`)));
}
