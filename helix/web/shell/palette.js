// Ctrl+K: one field that finds commands, views, documents and conversations. An ARIA combobox: the focus stays in
// the field, arrows move what is marked, Enter takes it.
//
//   <${Palette} open=${b} onClose=${f} />
import { api } from "../api.js";
import { Dialog, Icon, useDelayed } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { useStore } from "../store.js";
import { commands } from "./commands.js";
import { ranked } from "./match.js";
import { Keys } from "./shortcuts.js";

const DOCUMENTS = 8;
const CONVERSATIONS = 5;

export function Palette({ open, onClose }) {
  return html`<${Dialog} title="Commands" open=${open} onClose=${onClose}>
    <${Finder} onClose=${onClose} /></${Dialog}>`;
}

function Finder({ onClose }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const options = useOptions(typed);
  const chosen = Math.min(at, options.length - 1);
  const list = useRef(null);
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, options.length]);
  const take = (option) => {
    if (!option) return;
    onClose();
    // when the dialog has given the focus back, so that the command may put it elsewhere
    requestAnimationFrame(() => option.run());
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && options.length) setAt((chosen + move + options.length) % options.length);
    else if (event.key === "Enter") take(options[chosen]);
    else return;
    event.preventDefault();
  };
  return html`<div class="palette">
    <label class="unseen" for="palette">Command, view or document</label>
    <input id="palette" type="text" role="combobox" aria-expanded=${String(options.length > 0)} aria-controls="palette-options" aria-autocomplete="list"
      aria-activedescendant=${options.length ? `palette-${chosen}` : undefined} placeholder="A command, a view, a document" autocomplete="off" spellcheck=${false} data-focus
      value=${typed} onInput=${(event) => { setTyped(event.target.value); setAt(0); }} onKeyDown=${onKeyDown} />
    <ul id="palette-options" role="listbox" aria-label="What fits" ref=${list}>${options.map((option, n) => html`<${Option}
      key=${option.id} option=${option} n=${n} chosen=${n === chosen} onPoint=${() => setAt(n)} onTake=${() => take(option)} />`)}</ul>
    ${!options.length && html`<p class="hint" role="status">Nothing fits. Enter in the question box asks the documents instead.</p>`}
  </div>`;
}

function Option({ option, n, chosen, onPoint, onTake }) {
  return html`<li id=${`palette-${n}`} role="option" aria-selected=${String(chosen)} onPointerMove=${onPoint} onClick=${onTake}>
    <${Icon} name=${option.icon || "after"} /><span class="palette-name"><${Name} text=${option.name} at=${option.at} /></span>
    ${option.keys ? html`<span class="palette-keys"><${Keys} keys=${option.keys} /></span>` : option.kind && html`<span class="hint">${option.kind}</span>`}</li>`;
}

// The letters that were typed stand out.
function Name({ text, at }) {
  const typed = new Set(at);
  return [...text].map((letter, n) => (typed.has(n) ? html`<b key=${n}>${letter}</b>` : letter));
}

function useOptions(typed) {
  const { list } = useStore(commands);
  const wanted = useDelayed(typed.trim(), 150);
  const found = useFound(wanted, findDocuments);
  const conversations = useFound(wanted, findConversations);
  const ask = { id: "ask-this", name: `Ask: ${typed.trim()}`, icon: "ask", at: [], run: () => put(typed.trim()) };
  const fitting = ranked(list, typed);
  return typed.trim() ? [...fitting, ...found, ask, ...conversations] : fitting;
}

async function put(question) {
  const { askAnew } = await import("../conversations/asking.js");
  askAnew(question, { documents: [], tags: [] });
}

function useFound(q, find) {
  const [found, setFound] = useState([]);
  useEffect(() => {
    if (!q) return setFound([]) ?? undefined;
    const controller = new AbortController();
    find(q, controller.signal).then(setFound, (error) => error.name !== "AbortError" && setFound([]));
    return () => controller.abort();
  }, [q]);
  return found;
}

// Documents by their title or file name, as the library searches them.
async function findDocuments(q, signal) {
  const { documents } = await api.documents({ q, status: "ready", sort: "title", limit: DOCUMENTS }, signal);
  return documents.map(({ id, title }) => ({
    id: `document-${id}`, name: title, kind: "document", icon: "document", at: [], run: () => go(address("source", [id])),
  }));
}

async function findConversations(q, signal) {
  const { conversations } = await api.conversations({ q, limit: CONVERSATIONS }, signal);
  return conversations.map(({ id, title }) => ({
    id: `conversation-${id}`, name: title || "Without a name", kind: "conversation", icon: "outline", at: [], run: () => go(address("c", [id])),
  }));
}
