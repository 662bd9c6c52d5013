// The list of conversations beside the open one: search, rename, export, delete. Folded on narrow
// windows.
//
//   <${Sidebar} current=${id} onNew=${f} />
import { Button, Icon, toast, useDelayed } from "../components.js";
import { Failure } from "../data.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { useCommands } from "../shell/commands.js";
import { useStore } from "../store.js";
import { shortened } from "../text.js";
import { groupsOf } from "./groups.js";
import { bringBack, conversations, readList, readMore, remove, search } from "./list.js";
import { Row } from "./row.js";

export function Sidebar({ current, onNew }) {
  const { list, next, total, q, state, error, removed } = useStore(conversations);
  const wide = useWide();
  const [open, setOpen] = useState(false);
  const shown = list.filter(({ id }) => id !== removed?.id);
  useEffect(() => { readList(); }, []);
  useEffect(() => { setOpen(false); }, [current]);
  useOwnCommands(total > 0, onNew, () => setOpen(true));
  const away = (one) => {
    remove(one);
    if (one.id === current) go(address("ask"), true);
    requestAnimationFrame(() => document.querySelector(".removed button")?.focus({ preventScroll: true }));
  };
  return html`<nav class="sidebar" aria-label="Conversations"><details open=${wide || open} onToggle=${(event) => wide || setOpen(event.target.open)}>
    <summary><${Icon} name="outline" /><span>Conversations</span></summary>
    <div class="sidebar-body">
      <${Button} icon="plus" onClick=${onNew}>New conversation</>
      ${(total > 0 || q) && html`<${Search} q=${q} />`}
      ${removed && html`<${Removed} one=${removed} />`}
      ${state === "failed" && html`<${Failure} error=${{ message: error, retry: readList }} />`}
      ${state === "ready" && !shown.length && !removed && html`<p class="hint">${q ? "No conversation has that in its name or its questions." : "Your conversations will appear here."}</p>`}
      <${Groups} list=${shown} current=${current} onRemove=${away} />
      ${next && html`<button type="button" class="text-button" onClick=${() => readMore().catch((problem) => toast(problem.message))}>Show more</button>`}
    </div></details></nav>`;
}

function useWide() {
  const query = useMemo(() => matchMedia("(min-width: 72rem)"), []);
  const [wide, setWide] = useState(query.matches);
  useEffect(() => {
    const look = () => setWide(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return wide;
}

function useOwnCommands(hasSome, onNew, onOpen) {
  const find = () => {
    onOpen();
    requestAnimationFrame(() => document.getElementById("find-conversation")?.focus());
  };
  useCommands([
    { id: "new conversation", name: "New conversation", icon: "plus", hint: "clear ask start chat", run: onNew },
    ...(hasSome ? [{ id: "find conversation", name: "Find a conversation", icon: "search", hint: "history list", run: find }] : []),
  ]);
}

function Search({ q }) {
  const [typed, setTyped] = useState(q);
  const wanted = useDelayed(typed.trim(), 200);
  useEffect(() => { if (wanted !== q) search(wanted); }, [wanted]);
  return html`<label class="find-conversation"><span class="unseen">Find a conversation</span>
    <input id="find-conversation" type="search" placeholder="Find a conversation" autocomplete="off" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></label>`;
}

function Removed({ one }) {
  const back = () => {
    bringBack();
    go(address("c", [one.id]));
  };
  return html`<p class="cleared removed" role="status"><span>“${shortened(one.title || "Untitled", 40)}” was deleted.</span> <button type="button" class="text-button" onClick=${back}>Undo</button></p>`;
}

// Arrows go up and down the list, wherever in a row the focus is.
function Groups({ list, current, onRemove }) {
  const element = useRef(null);
  const onKeyDown = (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!move || event.target.matches("input")) return;
    const links = [...element.current.querySelectorAll(".row-link")];
    const at = links.indexOf(event.target.closest("li").querySelector(".row-link"));
    links[at + move]?.focus();
    event.preventDefault();
  };
  return html`<div class="groups" ref=${element} onKeyDown=${onKeyDown}>${groupsOf(list, new Date()).map(({ name, list: own }) => html`<section key=${name} aria-label=${name}>
    <h2 class="eyebrow">${name}</h2>
    <ul>${own.map((one) => html`<${Row} key=${one.id} one=${one} isOpen=${one.id === current} onRemove=${() => onRemove(one)} />`)}</ul></section>`)}</div>`;
}
