// What the browser itself stores for a tenant and key: the draft of each conversation, the last open
// conversation. Questions and answers are stored on the server; docs/web.md lists what is stored where.
//
//   kept(name)                   drafts: an object; last: a string; unsent: { [conversation]: what was
//                                asked in it while the server was away }
//   keep(name, value)            stores it, and tells the other tabs
//   onKept((name, value) => …)   when another tab has stored something
//   tellTabs(id); onTabs((id) => …)      this conversation has changed or is gone; another tab says so
//
// While the key is not kept on this device, this is not either: it is in the tab's session storage, and
// tabs tell one another.
import { recall, remember, session } from "../store.js";

const EMPTY = { drafts: {}, last: "", unsent: {} };
const MOST_DRAFTS = 20;

const whoOf = ({ tenant, key }) => hashed(key ? `key ${key}` : `tenant ${tenant}`);

// Names hold a hash, never the key itself. 53 bits, by cyrb53's mixing of two 32-bit halves.
function hashed(text) {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (const sign of text) {
    a = Math.imul(a ^ sign.codePointAt(0), 2654435761);
    b = Math.imul(b ^ sign.codePointAt(0), 1597334677);
  }
  return ((b >>> 0) * 2 ** 21 + (a >>> 11)).toString(36);
}

let who = whoOf(session.get());
let place = placeOf(session.get());
let hadKey = Boolean(session.get().key);

function placeOf({ key, kept: onDevice }) {
  return key && !onDevice ? "sessionStorage" : "localStorage";
}

export function kept(name) {
  try {
    const found = JSON.parse(recall(`${name}.${who}`, place) || "null");
    return found === null || typeof found !== typeof EMPTY[name] ? EMPTY[name] : found;
  } catch {
    return EMPTY[name];
  }
}

export function keep(name, value) {
  const held = limited(value);
  write(name, held);
  tell({ name, value: held });
}

function write(name, value) {
  const isEmpty = !value || Object.keys(value).length === 0;
  remember(`${name}.${who}`, isEmpty ? null : JSON.stringify(value), place);
}

function limited(value) {
  return typeof value === "object" ? Object.fromEntries(Object.entries(value).slice(-MOST_DRAFTS)) : value;
}

// Of who signs out. The other tabs would keep their drafts once more.
export function forgetAll() {
  for (const [name, value] of Object.entries(EMPTY)) {
    remember(`${name}.${who}`, null, "localStorage");
    remember(`${name}.${who}`, null, "sessionStorage");
    tell({ name, value });
  }
}

const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.kept") : null;
const tell = (message) => channel?.postMessage({ who, ...message });
const listeners = new Set();
const tabs = new Set();

// A new tab asks the other tabs, where only their session storage has the values.
channel?.addEventListener("message", ({ data }) => {
  if (data.who !== who) return;
  if (data.hello) return tellDrafts();
  if (data.changed) return tabs.forEach((listener) => listener(data.changed));
  if (place === "sessionStorage") write(data.name, data.value);
  for (const listener of listeners) listener(data.name, data.value);
});
tell({ hello: true });

function tellDrafts() {
  const value = kept("drafts");
  if (Object.keys(value).length) tell({ name: "drafts", value });
}

export function onKept(listener) {
  listeners.add(listener);
}

export const tellTabs = (id) => tell({ changed: id });
export const onTabs = (listener) => tabs.add(listener);

session.subscribe((state) => {
  const now = whoOf(state);
  if (now === who) return move(placeOf(state));
  place = placeOf(state);
  if (hadKey && !state.key) forgetAll(); // signed out
  [who, hadKey] = [now, Boolean(state.key)];
  return tell({ hello: true });
});

// A key that is kept on this device now, or not any more.
function move(other) {
  if (other === place) return;
  for (const name of Object.keys(EMPTY)) {
    remember(`${name}.${who}`, recall(`${name}.${who}`, place), other);
    remember(`${name}.${who}`, null, place);
  }
  place = other;
}
