// When a handler was awake, frozen or held, and when its process ended: a band over time, and what it used.
import { draw, make } from "./dom.js";
import { clock, count, duration, percent } from "./format.js";

const width = 1000;
const height = 34;
const words = { awake: "awake", frozen: "frozen", held: "held", none: "no process" };
/** Ends that a person ordered. */
const wanted = ["reclaimed", "idle", "stopped", "reconfigured", "finished", "operator", "restarted", "deadline", "exit-0"];

const isFault = ({ what }) => !wanted.includes(what);

/** The last end of a process that is a fault, in an answer of `v1/handlers/ID/timeline`. */
export function failureOf({ from, ends }) {
  return ends.findLast((end) => end.time >= from && isFault(end));
}

/** A figure of such an answer; what is before its `from` is left out. */
export function timelineFigure(answer) {
  const { from, until } = answer;
  const spans = answer.spans.filter((span) => span.until > from)
    .map((span) => ({ ...span, from: Math.max(from, span.from) }));
  const ends = answer.ends.filter((end) => end.time >= from);
  const shown = { from, until, spans, ends, ratio: awakeIn(spans) / (lengthOf(spans) || 1) };
  const occurring = Object.entries(words).filter(([state]) => spans.some((span) => span.state === state));
  return make("figure", { class: "timeline" },
    band(shown),
    make("div", { class: "scale", "aria-hidden": "true" },
      ...[from, (from + until) / 2, until].map((moment) =>
        make("span", {}, clock(moment * 1000, { hasSeconds: false })))),
    make("ul", { class: "legend", role: "list" },
      ...occurring.map(([state, word]) => item(state, word)),
      ...(ends.some(isFault) ? [item("fault", "process failed")] : []),
      ...(ends.some((end) => !isFault(end)) ? [item("end", "process ended")] : [])),
    make("p", { class: "budget" }, budget(shown, answer.budget_ms)));
}

function item(state, word) {
  return make("li", {}, make("span", { class: `swatch ${state}`, "aria-hidden": "true" }), word);
}

const lengthOf = (spans) => spans.reduce((sum, span) => sum + span.until - span.from, 0);
const awakeIn = (spans) => lengthOf(spans.filter((span) => span.state === "awake"));

function band({ from, until, spans, ends, ratio }) {
  const x = (moment) => ((Math.max(from, Math.min(until, moment)) - from) / (until - from)) * width;
  const label = `awake ${percent(ratio)} of the time, ${count(ends.length, "process", "processes")} ended`;
  return draw("svg", { class: "band-chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": label },
    ...spans.map((span) =>
      draw("rect", { class: span.state, x: x(span.from), y: 4, height: height - 8,
        // A wake of milliseconds would be too thin to see.
        width: Math.max(span.state === "awake" ? 3 : 0, x(span.until) - x(span.from)) })),
    ...ends.map((end) => draw("rect", { class: isFault(end) ? "fault" : "end", x: x(end.time) - 2, y: 0, width: 4, height })));
}

function budget({ spans, ratio }, budgetMs) {
  const longest = Math.max(0, ...spans.filter((span) => span.state === "awake").map((span) => span.until - span.from));
  return `Awake ${duration(awakeIn(spans))} in all, ${percent(ratio)}. `
    + `Longest wake ${duration(longest)} of a budget of ${duration(budgetMs / 1000)}.`;
}
