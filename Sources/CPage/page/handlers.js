// The handlers: a line each with what it does now, and below it why, when it was awake, its log and what can be done.
import { get, lines, part, post } from "./api.js";
import { spanChoice } from "./chart.js";
import { refresh } from "./connection.js";
import { button, carryOut, make, Rows, setText } from "./dom.js";
import { clock, count, duration, percent } from "./format.js";
import { openReplay } from "./recording.js";
import { when } from "./state.js";
import { timelineFigure } from "./timeline.js";

const list = document.getElementById("handlers");
const rows = new Rows(list, (handler) => new HandlerRow(handler));

export function start() {
  when("status", ({ handlers }) => {
    rows.update(handlers, (handler) => handler.id);
    setText(document.getElementById("no-handlers"), handlers.length ? "" : "No handler is declared yet.");
  });
}

const words = {
  stopped: "stopped", idle: "not running", launching: "starting", active: "awake", expiring: "time ends",
  suspending: "freezing", suspended: "frozen", terminating: "ending", held: "held", quarantined: "quarantined",
};

class HandlerRow {
  #mark = make("span", { class: "mark", "aria-hidden": "true" });
  #name = make("strong", { class: "name" });
  #state = make("span", { class: "state" });
  #awake = make("span", { class: "awake" });
  #queue = make("span", { class: "queue" });
  #why = make("span", { class: "why" });
  #details;

  constructor() {
    this.element = make("details", { class: "row handler" },
      make("summary", {}, this.#mark, this.#name, this.#state, this.#awake, this.#queue, this.#why));
    this.element.addEventListener("toggle", () => this.#toggle());
  }

  update(handler) {
    this.handler = handler;
    const isBad = ["held", "quarantined"].includes(handler.state);
    const left = handler.held_for_ms ? ` ${duration(handler.held_for_ms / 1000)}` : "";
    this.#mark.dataset.state = isBad ? "bad" : handler.state;
    setText(this.#name, handler.id);
    setText(this.#state, (words[handler.state] ?? handler.state) + left);
    setText(this.#awake, `awake ${percent(handler.work?.awake_ratio ?? 0)}`);
    setText(this.#queue, count(handler.queued + handler.open, "event waits", "events wait"));
    setText(this.#why, isBad ? handler.why : handler.status ?? "");
    this.#details?.update(handler);
  }

  #toggle() {
    if (this.element.open && !this.#details) {
      this.#details = new HandlerDetails(this.handler);
      this.element.append(this.#details.element);
      this.#details.update(this.handler);
    } else if (!this.element.open) {
      this.#details?.element.remove();
      this.#details = undefined;
    }
  }
}

/** What a row shows once it is opened; it is asked for again with each status. */
class HandlerDetails {
  #why = make("p", { class: "reason" });
  #timeline = make("div", {});
  #log = make("ol", { class: "log", role: "list", tabindex: "0", "aria-label": "Last 20 log lines" });
  #facts = make("p", { class: "facts" });
  #actions = make("div", { class: "actions" });
  #span = "15m";
  #isStopped;

  constructor({ id }) {
    this.id = id;
    this.element = make("div", { class: "details" }, this.#why,
      make("div", { class: "chart-head" },
        make("span", {}, "Awake and frozen"), spanChoice((span) => this.#choose(span))),
      this.#timeline, this.#actions, this.#log, this.#facts);
  }

  update(handler) {
    this.#ask();
    const { work, wakes, events, pid, last_exit: lastExit } = handler;
    const facts = [
      pid ? `process ${pid}` : "no process", count(wakes, "wake", "wakes"), count(events, "event", "events"),
      work && `${work.useful} useful, ${work.failed} failed`,
      work?.cpu_per_event_ms && `${work.cpu_per_event_ms} ms of processor an event`,
      lastExit && `last exit: ${lastExit}`,
    ];
    setText(this.#facts, facts.filter(Boolean).join(" · "));
    const isStopped = ["stopped", "quarantined", "held"].includes(handler.state);
    if (isStopped === this.#isStopped) return;
    this.#isStopped = isStopped;
    this.#actions.replaceChildren(...this.#buttons());
  }

  #buttons() {
    const path = `v1/handlers/${part(this.id)}`;
    const run = (address, body, done) => async () => {
      await carryOut(() => post(address, body), done);
      await refresh();
    };
    const needs = "operate";
    const start = button("Start", run(`${path}/start`, {}, `${this.id} is started.`), { needs });
    return [
      ...(this.#isStopped ? [start] : []),
      button("Stop", run(`${path}/stop`, {}, `${this.id} is stopped until you start it.`), { needs }),
      button("Wake", run("v1/simulate", { what: "wake", handler: this.id }, `${this.id} is woken.`), { needs }),
      button("Replay a recording", () => openReplay(this.id), { needs }),
    ];
  }

  #choose(span) {
    this.#span = span;
    this.#askTimeline();
  }

  #ask() {
    this.#askTimeline();
    this.#askWhy();
    this.#askLog();
  }

  async #askWhy() {
    const answer = await get(`v1/handlers/${part(this.id)}/why`).catch(() => undefined);
    if (answer) setText(this.#why, answer.why);
  }

  async #askTimeline() {
    const answer = await get(`v1/handlers/${part(this.id)}/timeline?span=${this.#span}`).catch(() => undefined);
    if (answer) this.#timeline.replaceChildren(timelineFigure(answer));
  }

  async #askLog() {
    const told = [];
    try {
      for await (const line of lines(`v1/logs?handler=${part(this.id)}&lines=20`)) told.push(line);
    } catch {
      return;
    }
    const isAtEnd = this.#log.scrollTop + this.#log.clientHeight >= this.#log.scrollHeight - 4;
    this.#log.replaceChildren(...told.filter(({ text }) => text !== undefined).map(logLine));
    if (isAtEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

function logLine({ time, stream, text }) {
  return make("li", { class: stream }, time && make("span", { class: "when" }, clock(time)), text);
}
