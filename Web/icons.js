// The few pictures of the page, drawn as SVG in the colour of the text beside them.
import { draw } from "./dom.js";

const paths = {
  bluetooth: "M5 5l9 9-5 4V2l5 4-9 9",
  system: "M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14M9.4 3v14M7.8 4v12M6.2 5v10M4.6 6.4v7.2",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M16 4l-1.4 1.4M5.4 14.6L4 16",
  dark: "M16.5 12A7 7 0 0 1 8 3.5 7 7 0 1 0 16.5 12z",
};

export function icon(name) {
  return draw("svg", { class: `icon ${name}`, viewBox: "0 0 20 20", "aria-hidden": "true" },
    draw("path", { d: paths[name] }));
}

/** A battery that is so full; one below 15 % is shown in the colour of a warning. */
export function batteryIcon(percent) {
  const full = Math.max(0, Math.min(100, percent));
  return draw("svg", { class: `icon battery-icon${full < 15 ? " low" : ""}`, viewBox: "0 0 26 14", "aria-hidden": "true" },
    draw("rect", { class: "shell", x: 1, y: 1, width: 21, height: 12, rx: 3 }),
    draw("rect", { class: "charge", x: 3.5, y: 3.5, width: 0.16 * full, height: 7, rx: 1 }),
    draw("path", { d: "M24.5 5v4" }));
}
