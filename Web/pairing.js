// Adding a device in four screens: its pairing mode, those near by, the passkey or the comparison, its name and values.
import { lines, post } from "./api.js";
import { actions, button, carryOut, make, openDialog, Rows, setText } from "./dom.js";
import { eventText } from "./format.js";
import { state, when } from "./state.js";

/** `changed` is called once a device was added. */
export function openPairing(changed) {
  new Pairing(changed).askForMode();
}

class Pairing {
  #stop = new AbortController();
  #screen = make("div", { class: "screen" });
  #body = make("div", { "aria-live": "polite" });
  #value = make("p", { class: "first-value" });
  #dialog;

  constructor(changed) {
    this.changed = changed;
    this.#dialog = openDialog("Add a device", this.#screen);
    this.#dialog.classList.add("pairing");
    this.#dialog.addEventListener("close", () => this.#stop.abort());
  }

  #show(step, title, ...children) {
    const heading = make("h3", { tabindex: "-1" }, title);
    this.#screen.replaceChildren(make("p", { class: "step" }, `Step ${step} of 4`), heading, ...children);
    heading.focus();
  }

  get #cancel() {
    return button("Cancel", () => this.#dialog.close());
  }

  askForMode() {
    this.#show(1, "Is it in pairing mode?",
      make("p", {}, "Wear a strap, press the button of a sensor, or follow its manual."),
      make("p", {}, "Disconnect it from every phone first."),
      actions(button("Search", () => this.search(), { class: "strong" }), this.#cancel));
  }

  async search() {
    const found = new Map();
    const hint = make("p", { class: "facts" }, "Searching…");
    const list = make("ul", { class: "neighbours", role: "list" });
    const rows = new Rows(list, (neighbour) => new NeighbourRow(neighbour, (chosen) => this.pair(chosen)));
    this.#show(2, "Which one is it?", make("p", {}, "The nearest comes first."), list, hint,
      actions(this.#cancel));
    await this.#follow("v1/neighbours", undefined, ({ neighbour, note }) => {
      if (note) setText(hint, note);
      if (!neighbour) return;
      found.set(neighbour.address, neighbour);
      rows.update([...found.values()].sort(bySignal), (each) => each.address);
      setText(hint, "Still searching…");
    });
  }

  async pair({ address, name }) {
    const title = name || address;
    const step = make("p", {}, "Connecting…");
    this.#body.replaceChildren();
    this.#show(3, `Pairing ${title}`, step, this.#body, actions(this.#cancel));
    const pairing = this.#follow("v1/pairing", { device: address }, (line) => this.#hear(line, step));
    this.#showFirstValue(address);
    await pairing;
  }

  /** Listens before the device is paired: a meter may say its only value before the last screen is shown. */
  #showFirstValue(address) {
    setText(this.#value, "Waiting for its first value…");
    const hear = (event) => event.source?.includes(address) && setText(this.#value, eventText(event));
    when("event", hear, { signal: this.#stop.signal });
  }

  #hear(line, step) {
    if (line.pairing) this.id = line.pairing;
    if (line.step) setText(step, line.step);
    if (line.ask === "consent") this.#consent();
    else if (line.ask) this.#askForPasskey(step);
    if (line.show) this.#body.replaceChildren(make("p", {}, "Type this number on the device:"), big(line.show));
    if (line.compare) this.#compare(line.compare);
    if (line.paired) this.nameIt(line.paired);
    if (line.error) this.#fail(line.error);
  }

  #askForPasskey(step) {
    setText(step, "Type the six digits that the device shows, or that are printed on its label.");
    const form = passkeyForm((passkey) => this.#answer({ passkey }), this.#cancel);
    this.#screen.querySelector(":scope > .actions").hidden = true;
    this.#body.replaceChildren(form);
    form.passkey.focus();
  }

  #consent() {
    this.#body.replaceChildren(make("p", {}, "The device asks to be paired, and shows no number. Is it yours?"),
      actions(
        button("Pair it", () => this.#answer({ agrees: true }), { class: "strong" }),
        button("Refuse", () => this.#answer({ agrees: false }))));
  }

  #compare(digits) {
    this.#body.replaceChildren(make("p", {}, "Does the device show the same number?"), big(digits),
      actions(
        button("It is the same", () => this.#answer({ agrees: true }), { class: "strong" }),
        button("It is another", () => this.#answer({ agrees: false }))));
  }

  #answer(answer) {
    this.#screen.querySelector(":scope > .actions").hidden = false;
    this.#body.replaceChildren(make("p", {}, "Waiting for the device…"));
    return carryOut(() => post("v1/pairing/answer", { pairing: this.id, ...answer }));
  }

  #fail({ message, advice }) {
    this.#show(3, "It could not be paired", make("p", {}, [message, advice].filter(Boolean).join("; ")),
      actions(button("Try again", () => this.askForMode(), { class: "strong" }), this.#cancel));
  }

  nameIt({ alias }) {
    const input = make("input", { name: "name", value: alias, maxlength: "64", required: true, autocomplete: "off" });
    const form = make("form", {}, make("label", {}, "Its name", input),
      actions(make("button", { class: "strong" }, "Done")));
    this.#show(4, "Paired", form, this.#value);
    this.changed();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#finish(alias, input.value.trim());
    });
  }

  async #finish(alias, name) {
    const rename = () => post("v1/devices/name", { device: alias, name });
    if (name !== alias && !(await carryOut(rename, `${alias} is now ${name}.`))) return;
    this.#dialog.close();
    this.changed();
  }

  /** One stream at a time: the next screen ends that of the screen before. */
  async #follow(path, body, hear) {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    try {
      for await (const line of lines(path, { body, signal: stop.signal })) {
        if (stop.signal.aborted) return;
        if (line.error && path === "v1/neighbours") return this.#fail(line.error);
        hear(line);
      }
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
    }
  }
}

function bySignal(one, other) {
  return (other.rssi ?? -200) - (one.rssi ?? -200);
}

class NeighbourRow {
  #name = make("strong", { class: "name" });
  #signal = make("span", { class: "signal", "aria-hidden": "true" });
  #facts = make("span", { class: "facts" });

  constructor(neighbour, choose) {
    this.#signal.append(...[1, 2, 3, 4].map(() => make("i", {})));
    this.element = make("li", {}, button("", () => choose(this.neighbour)));
    this.element.firstChild.append(this.#signal, this.#name, this.#facts);
  }

  update(neighbour) {
    this.neighbour = neighbour;
    const { address, name, rssi, profile, alias } = neighbour;
    const isKnown = state.status.devices.some((device) => device.source.endsWith(address));
    setText(this.#name, alias || name || address);
    const signal = rssi === null ? undefined : `${rssi} dBm`;
    const facts = [profile ?? "no profile knows it", signal, isKnown && "added already", address];
    setText(this.#facts, facts.filter(Boolean).join(" · "));
    const strength = rssi > -60 ? 4 : rssi > -70 ? 3 : rssi > -80 ? 2 : 1;
    [...this.#signal.children].forEach((bar, place) => bar.classList.toggle("full", place < strength));
  }
}

function big(digits) {
  const spoken = [...digits].join(" ");
  return make("p", { class: "big" },
    make("span", { "aria-hidden": "true" }, `${digits.slice(0, 3)} ${digits.slice(3)}`),
    make("span", { class: "unseen" }, spoken));
}

/** One field, so that a phone shows its own digits, and a passkey can be pasted. */
function passkeyForm(answer, cancel) {
  const input = make("input", {
    name: "passkey", class: "passkey", inputmode: "numeric", pattern: "[0-9]{1,6}", maxlength: "6", required: true,
    autocomplete: "one-time-code", "aria-label": "Passkey",
  });
  const ok = make("button", { class: "strong", disabled: true }, "OK");
  const form = make("form", {}, input, actions(ok, cancel));
  input.addEventListener("input", () => {
    input.value = input.value.replace(/[^0-9]/g, "");
    ok.disabled = !input.value;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(input.value.padStart(6, "0"));
  });
  return form;
}
