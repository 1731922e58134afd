// What the page knows of the bridge, and which parts of the page are told when that changes.

export const state = {
  /** What `v1/me` said: role, version, docs. */
  me: { role: null },
  /** What `v1/status` said last. */
  status: { bridge: {}, handlers: [], devices: [], adapters: null },
};

const roles = ["read", "operate", "pair"];

export const may = (role) => roles.indexOf(state.me.role) >= roles.indexOf(role);

/** Which controls are shown hangs on the role, by the style sheet. */
export function setMe(me) {
  state.me = me;
  document.documentElement.dataset.role = me.role ?? "none";
}

const listeners = new EventTarget();

/**
 * `joined`: in step with the daemon, after it was not. `left`: no longer. `status`: there is a new one.
 * `event`: a device, an alarm, a poll or a job, as a line of `v1/events`. `findings`: what the doctor finds now.
 * `shut out`: the daemon wants a token.
 */
export function when(topic, listener, options) {
  listeners.addEventListener(topic, ({ detail }) => listener(detail), options);
}

export function announce(topic, detail) {
  listeners.dispatchEvent(new CustomEvent(topic, { detail }));
}
