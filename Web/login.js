// Logging in: by the address that `wakebridge web` prints, or by a token that is typed.
import { post } from "./api.js";
import { join, leave } from "./connection.js";
import { setMe, state, when } from "./state.js";
import { isWall } from "./view.js";

const form = document.getElementById("login");

/** A token in the address is spent at once and removed, so that no history and no screenshot keeps it. */
export async function start() {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    logIn(form.token.value).then(join);
  });
  when("shut out", ask);
  when("status", () => showForm(false));
  document.getElementById("logout").addEventListener("click", logOut);
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search + (isWall() ? "#wall" : ""));
  await logIn(token);
}

async function logIn(token) {
  try {
    await post("v1/login", { token: token.trim() });
    form.token.value = "";
    complain("");
  } catch (error) {
    complain(error.message);
  }
}

async function logOut() {
  await post("v1/logout").catch(() => {});
  setMe({ ...state.me, role: null });
  ask();
}

function ask() {
  leave();
  showForm(true);
  form.token.focus();
}

function showForm(isShown) {
  form.hidden = !isShown;
  document.getElementById("content").hidden = isShown;
}

function complain(text) {
  document.getElementById("login-complaint").textContent = text;
}
