// What was asked, and what is typed but not asked yet, of whoever asks: it outlives a reload and other
// views, and all tabs have the same. See docs/web.md for what lies where.
//
//   kept()                       { list, draft } as they were kept; [] and "" where nothing was
//   keepList(list), keepDraft(text)
//   listenToTabs({ onList(list, cleared), onDraft(text), onHello() })
//   onOther(changed)             when somebody else asks: another tenant, another key
//
// With a key that is not kept on this device nothing is written to it either: it lies in the tab's own
// storage, and tabs tell one another.
import { recall, remember, session } from "../store.js";

const MOST = 40; // questions
const LARGEST = 1_000_000; // characters that they may take
const DAYS = 30; // as long as the server keeps receipts unless told otherwise

export const whoOf = ({ tenant, key }) => hashed(key ? `key ${key}` : `tenant ${tenant}`);

// A key is not written down as part of a name. 53 bits, by cyrb53's mixing of two 32-bit halves.
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

function placeOf({ key, kept }) {
  return key && !kept ? "sessionStorage" : "localStorage";
}

export function kept() {
  return { list: fresh(parsed(recall(`turns.${who}`, place))), draft: recall(`draft.${who}`, place) || "" };
}

function parsed(text) {
  try {
    const list = JSON.parse(text || "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function fresh(list) {
  const since = Date.now() - DAYS * 86_400_000;
  return list.filter((turn) => Date.parse(turn.asked) > since);
}

export function keepList(all, cleared = false) {
  const list = all.slice(-MOST).map((turn) => (turn.picture ? { ...turn, picture: { name: turn.picture.name } } : turn));
  while (list.length && JSON.stringify(list).length > LARGEST) list.shift();
  remember(`turns.${who}`, list.length ? JSON.stringify(list) : null, place);
  tell({ list, cleared });
}

export function keepDraft(draft) {
  remember(`draft.${who}`, draft || null, place);
  tell({ draft });
}

function forgetAll() {
  for (const name of [`turns.${who}`, `draft.${who}`]) {
    remember(name, null, "localStorage");
    remember(name, null, "sessionStorage");
  }
}

const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.asked") : null;
const tell = (message) => channel?.postMessage({ who, ...message });

export function listenToTabs({ onList, onDraft, onHello }) {
  if (!channel) return;
  channel.onmessage = ({ data }) => {
    if (data.who !== who) return;
    if (data.hello) onHello();
    if (data.list) onList(fresh(data.list), data.cleared);
    if (typeof data.draft === "string") onDraft(data.draft);
  };
  tell({ hello: true });
}

export function onOther(changed) {
  session.subscribe((state) => {
    const now = whoOf(state);
    if (now === who) return move(placeOf(state));
    place = placeOf(state);
    if (hadKey && !state.key) forgetAll(); // signed out
    [who, hadKey] = [now, Boolean(state.key)];
    changed();
    tell({ hello: true });
  });
}

// A key that is kept on this device now, or not any more.
function move(other) {
  if (other === place) return;
  for (const name of [`turns.${who}`, `draft.${who}`]) {
    remember(name, recall(name, place), other);
    remember(name, null, place);
  }
  place = other;
}

let hadKey = Boolean(session.get().key);
