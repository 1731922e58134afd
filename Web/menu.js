// A button that opens a short list of further orders, each with a line on what it does.
import { button, make } from "./dom.js";

const width = 300;

/** `entries` are made by `entry`, in their order. */
export function menu(label, entries, properties) {
  const list = make("div", { class: "menu", popover: "" }, ...entries);
  const opener = button(label, undefined, { "aria-expanded": "false", ...properties });
  const close = () => list.hidePopover();
  // The browser opens it: a listener here would open it again at the press that closes it.
  opener.popoverTargetElement = list;
  list.addEventListener("click", close);
  list.addEventListener("beforetoggle", ({ newState }) => {
    if (newState === "open") place(list, opener.getBoundingClientRect());
  });
  list.addEventListener("toggle", ({ newState }) => {
    opener.setAttribute("aria-expanded", String(newState === "open"));
    if (newState === "open") addEventListener("scroll", close, { once: true, passive: true });
    else removeEventListener("scroll", close);
  });
  return [opener, list];
}

export function entry(text, hint, press, properties) {
  const order = button(text, press, properties);
  order.append(make("small", {}, hint));
  return order;
}

/** Below the opener, or above it where there is more room. */
function place({ style }, { left, top, bottom }) {
  const isAbove = innerHeight - bottom < top && innerHeight - bottom < 320;
  style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  style.top = isAbove ? "auto" : `${bottom + 4}px`;
  style.bottom = isAbove ? `${innerHeight - top + 4}px` : "auto";
}
