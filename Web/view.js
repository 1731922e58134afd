// How the devices are laid out: as a list or as cards, which the browser keeps, and as a display for a wall.
import { choice } from "./dom.js";

const key = "wakebridge-view";
const layouts = { list: "List", cards: "Cards" };
const root = document.documentElement;
const leaving = document.getElementById("leave-wall");
let timer;

/** `#wall` in the address opens the display at once, as the browser of a screen on a wall needs it. */
export function start() {
  const chosen = localStorage.getItem(key) === "cards" ? "cards" : "list";
  root.dataset.view = chosen;
  document.getElementById("view").append(choice("Layout of the devices", layouts, chosen, (layout) => {
    root.dataset.view = layout;
    localStorage.setItem(key, layout);
  }));
  document.getElementById("wall").addEventListener("click", () => showWall(true));
  leaving.addEventListener("click", () => showWall(false));
  addEventListener("keydown", ({ key: pressed }) => {
    if (pressed === "Escape" && isWall() && !document.querySelector("dialog")) showWall(false);
  });
  for (const type of ["pointermove", "pointerdown", "keydown"]) addEventListener(type, showLeaving, { passive: true });
  showWall(new URLSearchParams(location.hash.slice(1)).has("wall"));
}

export const isWall = () => root.classList.contains("wall");

/** The way back is shown only while a person uses the screen. */
function showLeaving() {
  clearTimeout(timer);
  leaving.hidden = !isWall();
  if (isWall()) timer = setTimeout(() => (leaving.hidden = true), 5000);
}

function showWall(isShown) {
  const wasShown = isWall();
  root.classList.toggle("wall", isShown);
  showLeaving();
  if (isShown === wasShown) return;
  for (const row of document.querySelectorAll("details.row[open]")) row.open = false;
  scrollTo(0, 0);
  if (!location.hash.includes("token=")) {
    history.replaceState(null, "", location.pathname + location.search + (isShown ? "#wall" : ""));
  }
  (isShown ? leaving : document.getElementById("wall")).focus({ focusVisible: false });
}
