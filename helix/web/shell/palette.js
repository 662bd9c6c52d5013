// Ctrl+K: one field that finds commands, views, documents, passages, conversations and study sets. An ARIA combobox: the focus stays in
// the field, arrows move what is marked, Enter takes it.
//
//   <${Palette} open=${b} onClose=${f} />
import { api, call } from "../api.js";
import { Marked, findPassages, leadTo } from "../search/passages.js";
import { Dialog, Icon, useDelayed } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { useStore } from "../store.js";
import { useAbout } from "./about.js";
import { commands } from "./commands.js";
import { ranked } from "./match.js";
import { Keys } from "./shortcuts.js";

const DOCUMENTS = 8;
const CONVERSATIONS = 5;
const PASSAGES = 6;
const SETS = 5;
const LEAST = 3; // letters before passages are searched

export function Palette({ open, onClose }) {
  return html`<${Dialog} title="Find anything" open=${open} onClose=${onClose}>
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
    <label class="unseen" for="palette">Words of a document, a title or a command</label>
    <input id="palette" type="text" role="combobox" aria-expanded=${options.length > 0} aria-controls="palette-options" aria-autocomplete="list"
      aria-activedescendant=${options.length ? `palette-${chosen}` : undefined} placeholder="Search documents, titles and commands" autocomplete="off" spellcheck=${false} data-focus
      value=${typed} onInput=${(event) => { setTyped(event.target.value); setAt(0); }} onKeyDown=${onKeyDown} />
    <ul id="palette-options" role="listbox" aria-label="Results" ref=${list}>${options.map((option, n) => html`<${Option}
      key=${option.id} option=${option} n=${n} chosen=${n === chosen} onPoint=${() => setAt(n)} onTake=${() => take(option)} />`)}</ul>
    ${!options.length && html`<p class="hint" role="status">No results. To ask the documents, use the question box.</p>`}
  </div>`;
}

function Option({ option, n, chosen, onPoint, onTake }) {
  return html`<li id=${`palette-${n}`} role="option" aria-selected=${chosen} onPointerMove=${onPoint} onClick=${onTake}>
    <${Icon} name=${option.icon || "after"} /><span class="palette-name">${option.passage ? html`<${Passage} found=${option.passage} />` : html`<${Name} text=${option.name} at=${option.at} />`}</span>
    ${option.keys ? html`<span class="palette-keys"><${Keys} keys=${option.keys} /></span>` : option.kind && html`<span class="hint">${option.kind}</span>`}</li>`;
}

function Passage({ found }) {
  return html`<span class="palette-passage"><${Marked} text=${found.snippet} marks=${found.marks} /></span><span class="hint">${found.title}</span>`;
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
  const passages = useFound(wanted.length < LEAST ? "" : wanted, findThere);
  const { study } = useAbout();
  const sets = useFound(study === false ? "" : wanted, findSets);
  const ask = { id: "ask-this", name: `Ask: ${typed.trim()}`, icon: "ask", at: [], run: () => put(typed.trim()) };
  const fitting = ranked(list, typed);
  const search = { id: "search-this", name: `Search passages: ${typed.trim()}`, icon: "search", at: [], run: () => go(address("search", [], { q: typed.trim() })) };
  return typed.trim() ? [...fitting, ...found, ask, search, ...passages, ...conversations, ...sets] : fitting;
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

async function findThere(q, signal) {
  const { results } = await findPassages(q, { top_k: PASSAGES }, signal);
  return results.filter((one) => one.marks.length).map((passage) => ({
    id: `passage-${passage.chunk_id}`, name: passage.snippet, kind: "passage", icon: "document", at: [], passage, run: () => go(leadTo(passage)),
  }));
}

async function findSets(q, signal) {
  const { sets } = await call("GET /v1/study", { signal });
  return ranked(sets.map(({ id, title, kind }) => ({
    id: `set-${id}`, name: title, kind, icon: "label", run: () => go(address("study", [id])),
  })), q).slice(0, SETS);
}

async function findConversations(q, signal) {
  const { conversations } = await api.conversations({ q, limit: CONVERSATIONS }, signal);
  return conversations.map(({ id, title }) => ({
    id: `conversation-${id}`, name: title || "Untitled", kind: "conversation", icon: "outline", at: [], run: () => go(address("c", [id])),
  }));
}
