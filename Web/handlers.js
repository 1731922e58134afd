// The handlers: a line each with what it does now, and below it what failed, when it was awake, and what can be done.
import { get, part, post } from "./api.js";
import { rangeChoice, ranges } from "./chart.js";
import { refresh } from "./connection.js";
import { button, carryOut, confirmed, make, Rows, setText } from "./dom.js";
import { clock, count, duration, percent, sentence } from "./format.js";
import { lastError, openLog } from "./log.js";
import { entry, menu } from "./menu.js";
import { openReplay } from "./recording.js";
import { when } from "./state.js";
import { failureOf, timelineFigure } from "./timeline.js";

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

const isBad = ({ state }) => ["held", "quarantined"].includes(state);

/** Without the state, for which the row has its own word. */
function reason({ why }) {
  return sentence(why.replace(/^(asleep|awake|frozen|held|stopped|quarantined|not running)(: | (?=after |by ))/, ""));
}

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
    const left = handler.held_for_ms ? ` ${duration(handler.held_for_ms / 1000)}` : "";
    const waiting = handler.queued + handler.open;
    this.#mark.dataset.state = isBad(handler) ? "bad" : handler.state;
    setText(this.#name, handler.id);
    setText(this.#state, (words[handler.state] ?? handler.state) + left);
    setText(this.#awake, `awake ${percent(handler.work?.awake_ratio ?? 0)}`);
    setText(this.#queue, waiting ? count(waiting, "event waits", "events wait") : "");
    setText(this.#why, isBad(handler) ? reason(handler) : handler.status ?? "");
    this.#why.dataset.state = isBad(handler) ? "bad" : "note";
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
  #failure = make("div", { class: "failure" });
  #why = make("p", { class: "reason" });
  #timeline = make("div", {});
  #facts = make("p", { class: "facts" });
  #actions = make("div", { class: "actions" });
  #range = "15m";
  #isStopped;

  constructor({ id }) {
    this.id = id;
    this.element = make("div", { class: "details" }, this.#failure,
      make("div", { class: "chart-head" }, this.#why, rangeChoice((range) => this.#choose(range), ["15m", "1h", "6h", "24h"])),
      this.#timeline, this.#actions, this.#facts);
  }

  update(handler) {
    this.handler = handler;
    const { work, wakes, events, pid, last_exit: lastExit } = handler;
    const facts = [
      pid ? `process ${pid}` : "no process", count(wakes, "wake", "wakes"), count(events, "event", "events"),
      work && `${work.useful} useful, ${work.failed} failed`,
      work?.cpu_per_event_ms && `${work.cpu_per_event_ms} ms of processor an event`,
      lastExit && `last exit: ${lastExit}`,
    ];
    setText(this.#facts, facts.filter(Boolean).join(" · "));
    // The row itself says why a handler may not run.
    setText(this.#why, isBad(handler) ? "" : reason(handler));
    this.#ask();
    const isStopped = handler.state === "stopped" || isBad(handler);
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
    const halt = run(`${path}/stop`, {}, `${this.id} is stopped until you start it.`);
    const stop = async () => {
      if (await confirmed(`Stop ${this.id}? It gets no events until you start it.`, "Stop")) halt();
    };
    const needs = "operate";
    const start = button("Start", run(`${path}/start`, {}, `${this.id} is started.`), { needs, class: "strong" });
    return [
      ...(this.#isStopped ? [start] : []),
      button("Log", () => openLog(this.id)),
      ...menu("More", [
        entry("Wake", "Thaws it now, as an event would.",
          run("v1/simulate", { what: "wake", handler: this.id }, `${this.id} is woken.`), { needs }),
        entry("Replay a recording", "Runs its program beside it with a recorded file.", () => openReplay(this.id), { needs }),
        entry("Stop", "Ends its process until you start it.", stop, { needs, class: "bad" }),
      ], { needs, "aria-label": `More for ${this.id}` })];
  }

  #choose(range) {
    this.#range = range;
    this.#ask();
  }

  async #ask() {
    const { kept, seconds } = ranges[this.#range];
    const answer = await get(`v1/handlers/${part(this.id)}/timeline?span=${kept}`).catch(() => undefined);
    if (!answer) return;
    const shown = { ...answer, from: Math.max(answer.from, answer.until - seconds) };
    this.#timeline.replaceChildren(timelineFigure(shown));
    await this.#showFailure(failureOf(shown));
  }

  /** First of all, and with the last error that the program wrote. */
  async #showFailure(failure) {
    const isFailing = failure !== undefined || isBad(this.handler);
    const error = isFailing ? await lastError(this.id) : undefined;
    const repeated = error && isBad(this.handler) && this.handler.why.includes(error.slice(0, 100));
    this.#failure.replaceChildren(
      ...(failure ? [make("p", {}, `${clock(failure.time * 1000)} ${sentence(failure.why || failure.what)}`)] : []),
      ...(error && !repeated ? [make("p", {}, "Its last error: ", make("code", {}, error))] : []));
  }
}
