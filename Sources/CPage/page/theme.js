// Light, dark, or as the system has it: a choice that the browser keeps.

const key = "wakebridge-theme";
const choices = { "": "Auto", light: "Light", dark: "Dark" };

export function start() {
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    const names = Object.keys(choices);
    show(names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length]);
  });
  show(localStorage.getItem(key) ?? "");

  function show(choice) {
    if (choice) document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    if (choice) localStorage.setItem(key, choice);
    else localStorage.removeItem(key);
    button.textContent = choices[choice] ?? choices[""];
    button.setAttribute("aria-label", `Colours: ${button.textContent}`);
  }
}
