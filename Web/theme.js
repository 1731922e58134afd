// Light, dark, or as the system has it: a choice that the browser keeps.
import { make } from "./dom.js";
import { icon } from "./icons.js";

const key = "wakebridge-theme";
const choices = { "": "System", light: "Light", dark: "Dark" };

export function start() {
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const names = Object.keys(choices);
    show(names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length]);
  });
  show(localStorage.getItem(key) ?? "");

  function show(wanted) {
    const choice = wanted in choices ? wanted : "";
    if (choice) document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    if (choice) localStorage.setItem(key, choice);
    else localStorage.removeItem(key);
    const label = `${choices[choice]} theme`;
    button.replaceChildren(icon(choice || "system"), make("span", { class: "label" }, label));
    button.setAttribute("aria-label", label);
    button.title = `${label}: press for the next`;
  }
}
