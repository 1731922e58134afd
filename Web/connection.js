// Keeps the page in step with the daemon while it is seen, and asks for nothing while it is hidden.
import { get } from "./api.js";
import { announce, setMe, state } from "./state.js";

const quietInterval = 30_000;
const busyInterval = 5_000;
const firstPause = 1_000;
const longestPause = 15_000;

let stream;
let nextStatus;
let nextStatusAt = Infinity;
let lastStatusAt = 0;
let nextTry;
let pause = firstPause;

export function start() {
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : join()));
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", ({ persisted }) => persisted && join());
  if (!document.hidden) join();
}

/** Begins again from the first question, since the daemon may be another one by now. */
export async function join() {
  leave();
  try {
    const me = await get("v1/me");
    if (state.me.version && me.version !== state.me.version) return location.reload();
    setMe(me);
    if (!me.role) return announce("shut out");
  } catch {
    return tryLater();
  }
  if (!document.hidden) listen();
}

export function leave() {
  stream?.close();
  stream = undefined;
  clearTimeout(nextTry);
  clearTimeout(nextStatus);
  nextStatusAt = Infinity;
}

function listen() {
  leave();
  const opened = new EventSource("v1/events");
  stream = opened;
  stream.addEventListener("open", async () => {
    pause = firstPause;
    await refresh();
    if (stream === opened) announce("joined");
  });
  stream.addEventListener("message", ({ data }) => {
    announce("event", JSON.parse(data));
    planStatus(Math.max(300, lastStatusAt + busyInterval - Date.now()));
  });
  // A browser gives up by itself after some failures and goes on after others; here is one way for all.
  stream.addEventListener("error", tryLater);
}

function tryLater() {
  leave();
  announce("left");
  if (document.hidden) return;
  nextTry = setTimeout(join, pause);
  pause = Math.min(pause * 2, longestPause);
}

/** At once, as after an order. */
export async function refresh() {
  try {
    state.status = await get("v1/status");
    lastStatusAt = Date.now();
    announce("status", state.status);
  } catch {
    // The stream ends as well, and is opened again.
  }
  nextStatusAt = Infinity;
  if (stream) planStatus(quietInterval);
}

function planStatus(milliseconds) {
  const moment = Date.now() + milliseconds;
  if (moment >= nextStatusAt) return;
  clearTimeout(nextStatus);
  nextStatusAt = moment;
  nextStatus = setTimeout(refresh, milliseconds);
}
