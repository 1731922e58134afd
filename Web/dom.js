// Makes elements, and changes them without disturbing what is focused or read aloud.
import { ago } from "./format.js";

/** `properties` are attributes; truths are properties of the element, and `on` has listeners. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, { on = {}, ...properties }, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in element && typeof value === "boolean") element[name] = value;
    else element.setAttribute(name, value);
  }
  for (const [type, listener] of Object.entries(on)) element.addEventListener(type, listener);
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

/** `needs` is the role without which the button is not shown. */
export function button(text, press, { needs, ...properties } = {}) {
  return make("button", { type: "button", "data-needs": needs, on: { click: press }, ...properties }, text);
}

/** Buttons of which one is pressed: `options` has the text of each word, and `choose` gets the word that is pressed. */
export function choice(name, options, chosen, choose) {
  const buttons = Object.entries(options).map(([word, text]) =>
    button(text, ({ currentTarget }) => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === currentTarget));
      choose(word);
    }, { "aria-pressed": String(word === chosen) }));
  return make("div", { class: "choice", role: "group", "aria-label": name }, ...buttons);
}

/** A row of buttons. */
export function actions(...buttons) {
  return make("div", { class: "actions" }, ...buttons);
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** How long ago that was, in words that go on by themselves; see `keepTicking`. */
export function since(moment, properties = {}) {
  const element = make("time", properties);
  setMoment(element, moment);
  return element;
}

export function setMoment(element, moment) {
  element.dateTime = moment ? new Date(moment).toISOString() : "";
  element.title = moment ? new Date(moment).toLocaleString() : "";
  setText(element, moment ? ago(moment) : "");
}

/** Every `<time>` that was made by `since` tells the time that has passed, as long as the page is seen. */
export function keepTicking() {
  const tick = () => {
    for (const element of document.querySelectorAll("time[datetime]")) {
      if (element.dateTime) setText(element, ago(Date.parse(element.dateTime)));
    }
  };
  let timer;
  const turn = () => {
    clearInterval(timer);
    if (document.hidden) return;
    tick();
    timer = setInterval(tick, 1000);
  };
  document.addEventListener("visibilitychange", turn);
  turn();
}

/** Rows of a list by their keys: makes those that are new, removes those that went, and leaves the others alone. */
export class Rows {
  #rows = new Map();

  constructor(list, makeRow) {
    this.list = list;
    this.makeRow = makeRow;
  }

  get all() {
    return [...this.#rows.values()];
  }

  update(items, keyOf) {
    const keys = new Set(items.map(keyOf));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
    items.forEach((item, place) => {
      const row = this.#rows.get(keyOf(item)) ?? this.makeRow(item);
      this.#rows.set(keyOf(item), row);
      row.update(item);
      const here = this.list.children[place] ?? null;
      if (here !== row.element) this.list.insertBefore(row.element, here);
    });
  }
}

/** A question with two answers; true for the one that does it. */
export function confirmed(question, doIt) {
  return new Promise((resolve) => {
    const answer = (isAgreed) => () => {
      resolve(isAgreed);
      dialog.close();
    };
    const dialog = openDialog(question,
      actions(button(doIt, answer(true), { class: "strong bad" }), button("Cancel", answer(false))));
    dialog.addEventListener("close", () => resolve(false));
  });
}

/** A modal dialog, which is gone once it is closed. */
export function openDialog(title, ...children) {
  const heading = make("h2", { tabindex: "-1" }, title);
  const dialog = make("dialog", { "aria-label": title }, heading, ...children);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  return dialog;
}

/** Tells in the one place that is read aloud what an order came to. */
export function report(text, { isBad = false } = {}) {
  const place = document.getElementById(isBad ? "complaint" : "notice");
  document.getElementById(isBad ? "notice" : "complaint").replaceChildren();
  place.replaceChildren(text, button("Close", () => place.replaceChildren()));
  if (isBad) return;
  const told = place.firstChild;
  setTimeout(() => {
    if (place.firstChild === told) place.replaceChildren();
  }, 6000);
}

/** Runs an order, and tells what it came to: `done` is a sentence, and what refuses says why and what to do. */
export async function carryOut(order, done) {
  try {
    const answer = await order();
    if (done) report(done);
    return answer ?? true;
  } catch (error) {
    report(error.message, { isBad: true });
    return undefined;
  }
}
