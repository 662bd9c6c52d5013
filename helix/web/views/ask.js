// #/ask begins a conversation, #/c/{id} shows one, #/c/{id}/{message} leads to a message of it: the
// conversations, the thread, the box, and beside them the source or the why.
import { SourceReader } from "../reader/source.js";
import { Turn } from "../ask/answer.js";
import { Composer } from "../ask/composer.js";
import { FirstRun, ModelChoice } from "../ask/model.js";
import { closePanel, openPanel, panels } from "../ask/panel.js";
import { panelOf } from "../ask/cited.js";
import { Preview } from "../ask/preview.js";
import { ScopeBar, queryOf, scopeOf } from "../ask/scope.js";
import { Welcome } from "../ask/welcome.js";
import { Why } from "../ask/why.js";
import { Button, Notice, Spinner, toast } from "../components.js";
import { again, ask, edit, rate, resume } from "../conversations/asking.js";
import { stop } from "../conversations/following.js";
import { kept } from "../conversations/kept.js";
import { MemoryMeter } from "../conversations/memory.js";
import { Sidebar } from "../conversations/sidebar.js";
import { choosePath, close, find, open, reach, readEarlier, refresh, setScope, thread } from "../conversations/thread.js";
import { isRunning } from "../conversations/turn.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { runs } from "../library/follow.js";
import { Tray } from "../library/tray.js";
import { address, go } from "../router.js";
import { useTitle } from "../shell/title.js";
import { useStore } from "../store.js";

export default function Ask({ route }) {
  const { id, state, list, scope: own, space, earlier, error } = useStore(thread);
  const { panel } = useStore(panels);
  const linked = useOpened(route);
  const scope = id ? own : scopeOf(route);
  const running = list.some(isRunning);
  const put = async (question, images = [], chosen = scope) => {
    if (panels.get().panel) await closePanel();
    const turn = ask(question, chosen, images);
    if (route.name !== "c") go(address("c", [thread.get().id]), true);
    reveal(turn.local);
  };
  const anew = (question, chosen) => put(question, [], chosen);
  const choose = (chosen) => (id ? setScope(chosen).catch((problem) => toast(problem.message)) : go(address("ask", [], queryOf(chosen)), true));
  useEscape(running);
  useFreshMarks();
  useTitle(list.length ? list.at(-1).question : "");
  const box = useBoxHeight();
  const isEmpty = !list.length && state === "ready";
  return html`<div class=${`ask ${panel ? "with-panel" : ""} ${isEmpty ? "empty" : ""}`}>
    <${Sidebar} current=${id} onNew=${startNew} />
    <div class="thread">
      ${state === "loading" && html`<div class="turns"><${Spinner} label="Opening the conversation" /></div>`}
      ${state === "gone" && html`<div class="turns"><${Notice} kind="error" title="Conversation not found."><p>It was deleted, or is somebody else’s.</p><${Button} onClick=${startNew}>New conversation</></></div>`}
      ${state === "failed" && html`<div class="turns"><${Notice} kind="error" title="The conversation could not be loaded."><p>${error}</p><${Button} icon="retry" onClick=${() => open(id)}>Try again</></></div>`}
      ${list.length > 0 && html`<${Thread} list=${list} earlier=${earlier} linked=${linked} onAskAnew=${anew} />`}
      ${isEmpty && html`<${Welcome} scope=${scope} onAsk=${(question) => put(question)} />`}
      <div class="ask-box" ref=${box} hidden=${state === "gone"}>
        <${Tray} /><div class="box-top"><${ScopeBar} scope=${scope} space=${id ? space : undefined} onChange=${choose} /><${MemoryMeter} list=${list} /><${ModelChoice} /></div>
        <${Composer} conversation=${id} scope=${scope} running=${running} onAsk=${put} onStop=${stop} />
      </div>
      ${isEmpty && html`<${FirstRun} />`}
    </div>
    <${Panel} panel=${panel} turn=${panel?.kind === "why" ? find(panel.id) : null} />
    <${Preview} onOpen=${(passage, chip) => openPanel(panelOf(passage, chip))} />
  </div>`;
}

async function startNew() {
  await closePanel();
  go(address("ask"));
  requestAnimationFrame(() => document.getElementById("question")?.focus({ preventScroll: true }));
}

// A document that came, went or changed may make an answer stale.
function useFreshMarks() {
  const changes = useStore(runs, (now) => now.changes);
  const first = useRef(changes);
  useEffect(() => { if (changes !== first.current) refresh(); }, [changes]);
}

// What the address names is opened: a conversation, a message of it, or a new one. The bare address of
// the page goes on with the one that was open last. Before the paint: then one may type.
function useOpened({ name, rest: [id, message] }) {
  const [linked, setLinked] = useState(null);
  useLayoutEffect(() => {
    setLinked(null);
    const isBare = ["", "#", "#/"].includes(location.hash);
    if (name === "c" && id) resume(id).then(() => message && thread.get().id === id && lead(Number(message), setLinked));
    else if (isBare && kept("last")) go(address("c", [kept("last")]), true);
    else close();
  }, [name, id, message]);
  return linked;
}

async function lead(message, onFound) {
  try {
    await reach(message);
  } catch {
    // said below
  }
  const turn = find(message);
  if (!turn) return toast("This message no longer exists.");
  onFound(message);
  return reveal(turn.local, (article) => article.querySelector("h2").focus({ preventScroll: true }));
}

function Thread({ list, earlier, linked, onAskAnew }) {
  const { id, title } = useStore(thread);
  return html`<h1 class="unseen">${title ? `Conversation: ${title}` : "Questions and answers"}</h1>
    <div class="turns">
      ${earlier !== null && html`<p class="earlier"><button type="button" class="text-button" onClick=${() => readEarlier().catch((problem) => toast(problem.message))}>Show earlier messages</button></p>`}
      ${list.map((turn) => html`<${Turn} key=${turn.key} turn=${turn} isLinked=${linked !== null && turn.id === linked} conversation=${id} onOpen=${openPanel} onAsk=${onAskAnew}
        onRetry=${() => reveal(again(turn).local)} onEdit=${(question) => reveal(edit(turn, question).local)} onSwitch=${(other) => change(other)}
        onRate=${(rating, note) => rate(turn, rating, note)} />`)}</div>`;
}

async function change(message) {
  try {
    await choosePath(message);
  } catch (error) {
    toast(error.message);
  }
}

// How high the box is, so that nothing that is scrolled to or has the focus lies under it.
function useBoxHeight() {
  const box = useRef(null);
  useEffect(() => {
    const root = document.documentElement;
    const observer = new ResizeObserver(() => root.style.setProperty("--box", `${box.current?.offsetHeight ?? 0}px`));
    observer.observe(box.current);
    return () => {
      observer.disconnect();
      root.style.removeProperty("--box");
    };
  }, []);
  return box;
}

function reveal(local, then = () => {}) {
  requestAnimationFrame(() => {
    const turn = document.getElementById(`turn-${local}`);
    if (!turn) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    turn.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
    then(turn);
  });
}

// Escape stops from anywhere, but where it closes something first.
function useEscape(running) {
  useLayoutEffect(() => {
    const onKey = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (panels.get().panel) closePanel();
      else if (running) stop();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [running]);
}

export function Panel({ panel, turn }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    // who steps from source to source stays at the button
    if (panel && !panel.stays) element.current?.querySelector("h2")?.focus({ preventScroll: true });
  }, [panel]);
  if (!panel || (panel.kind === "why" && !turn)) return null;
  const open = (chunk) => openPanel({
    kind: "source", documentId: chunk.document_id, chunkId: chunk.id, start: chunk.start, end: chunk.end,
    quote: null, among: [], at: 0, opener: panel.opener,
  });
  const step = (n) => openPanel({ ...panel, ...panel.among[n], at: n, stays: true });
  return html`<aside class="panel" ref=${element} aria-label=${panel.kind === "why" ? "Why this answer" : "Source of the answer"}>
    ${panel.kind === "source" && html`<${SourceReader} ...${panel} onSource=${step} onClose=${closePanel} />`}
    ${panel.kind === "why" && turn && html`<${Why} turn=${turn} onClose=${closePanel} onOpen=${open} />`}
  </aside>`;
}
