// Requests to the daemon. Every address is relative, so that the page works below any prefix.
import { announce } from "./state.js";

/** Why the daemon did not do it: a sentence, and what to do. */
class Refusal extends Error {
  constructor(status, { code, message, advice } = {}) {
    super([message, advice].filter(Boolean).join("; ") || `the daemon answered ${status}`);
    this.status = status;
    this.code = code;
  }
}

const unreachable = {
  code: "unreachable",
  message: "the daemon cannot be reached",
  advice: "the page tries again by itself",
};

async function request(path, { body, signal } = {}) {
  const options = { signal, cache: "no-store" };
  if (body !== undefined) {
    const headers = { "Content-Type": "application/json" };
    Object.assign(options, { method: "POST", headers, body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Refusal(0, unreachable);
  }
  if (response.ok) return response;
  const refusal = new Refusal(response.status, (await response.json().catch(() => ({}))).error);
  if (response.status === 401 && path !== "v1/login") announce("shut out");
  throw refusal;
}

export async function get(path) {
  return (await request(path)).json();
}

export async function post(path, body = {}) {
  return (await request(path, { body })).json();
}

/** The pieces of text of a stream, as they come. */
export async function* pieces(path, options) {
  const reader = (await request(path, options)).body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The objects of a stream of lines, as they come. */
export async function* lines(path, options) {
  let rest = "";
  for await (const piece of pieces(path, options)) {
    const whole = (rest + piece).split("\n");
    rest = whole.pop();
    for (const line of whole) if (line.trim()) yield JSON.parse(line);
  }
}

/** One part of an address, with what is in it spelled out. */
export const part = encodeURIComponent;
