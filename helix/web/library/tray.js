// What this tab brings in, in a line, where the library itself is not in view. The question box has it
// above itself, so that it covers nothing; other views have it in a corner.
//
//   <${Tray} />
import { Icon } from "../components.js";
import { html, useEffect } from "../html.js";
import { address } from "../router.js";
import { createStore, useStore } from "../store.js";
import { Sent, summaryOf, useCards } from "./cards.js";

const TRAY = 6000; // ms that what ended well is still told
const seen = createStore({ hidden: new Set() });
const tell = (ids) => seen.set({ hidden: new Set([...seen.get().hidden, ...ids]) });

export function Tray() {
  const list = useCards().filter(({ id }) => typeof id === "number");
  const { hidden } = useStore(seen);
  const shown = list.filter(({ id }) => !hidden.has(id));
  const over = shown.filter(({ ended, bad }) => ended && !bad).map(({ id }) => id).join();
  useEffect(() => {
    if (!over) return undefined;
    const timer = setTimeout(() => tell(over.split(",").map(Number)), TRAY);
    return () => clearTimeout(timer);
  }, [over]);
  if (!shown.length) return null;
  const [first] = shown;
  return html`<aside class="tray" aria-label="Imports"><p role="status"><strong>${summaryOf(first)}</strong>
    ${first.refused.slice(0, 2).map(({ name, reason }) => html`<span class="reason" key=${name}>${name}: ${reason}</span>`)}${first.refused.length > 2 && ` and ${first.refused.length - 2} more`}<${Sent} card=${first} /></p>
    <a href=${address("library")}>Open the library</a>
    <button type="button" class="icon-button" aria-label="Dismiss" onClick=${() => tell(shown.map(({ id }) => id))}><${Icon} name="close" /></button></aside>`;
}
