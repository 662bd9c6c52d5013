// The spaces that may be read: what the page is about is one of them, or everything. Nothing shows where
// there is one alone.
//
//   <${SpaceMenu} />            the switcher
//   useSpaces()                 { list, several, now }: all, null until the server told; whether there is a choice;
//                               the chosen one, null for everything
//   await learnSpaces()         ask again: one may have been given, or taken away
//   mayEdit({ list, now })      whether documents can be added or changed here
import { call } from "../api.js";
import { toast } from "../components.js";
import { html } from "../html.js";
import { address, go, read } from "../router.js";
import { chooseSpace, createStore, session, useStore } from "../store.js";
import { Menu } from "./menu.js";

export const EVERYTHING = "Everything I may read";
export const spaces = createStore({ list: null });

export function useSpaces() {
  const { list } = useStore(spaces);
  const { space } = useStore(session);
  return { list, several: list?.length > 1, now: list?.find(({ id }) => id === space) ?? null };
}

export const mayEdit = ({ list, now }) => list === null || (now ? now.edits : list.some(({ edits }) => edits));

export async function learnSpaces() {
  try {
    const { spaces: list } = await call("GET /v1/spaces");
    if (JSON.stringify(list) !== JSON.stringify(spaces.get().list)) spaces.set({ list });
  } catch {
    return; // the view says what is wrong
  }
  const { space } = session.get();
  const { list } = spaces.get();
  const isThere = list.some(({ id }) => id === space);
  if (space === null || (isThere && list.length > 1)) return;
  chooseSpace(null);
  if (!isThere) toast("The space that you were in is no longer yours to read.");
}

// A conversation belongs to the space that it was begun in: another space begins another.
export function enter(space) {
  if (["c", "ask"].includes(read().name)) go(address("ask"), true);
  chooseSpace(space);
}

export function SpaceMenu() {
  const { list, several, now } = useSpaces();
  if (!several) return null;
  const items = [null, ...list.map(({ id }) => id)].map((id) => ({
    name: list.find((one) => one.id === id)?.name ?? EVERYTHING, checked: id === (now?.id ?? null),
    icon: id === (now?.id ?? null) ? "check" : "", run: () => enter(id),
  }));
  return html`<div class="space"><${Menu} label=${now?.name ?? "Everything"} about="Space" items=${[...items, null, { name: "All spaces…", icon: "settings", href: address("spaces") }]} /></div>`;
}

let asking = null;
function again({ tenant, key }) {
  const who = JSON.stringify([tenant, key]);
  if (who === asking) return;
  asking = who;
  spaces.set({ list: null });
  learnSpaces();
}
session.subscribe(again);
again(session.get());
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && learnSpaces());
