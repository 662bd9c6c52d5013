// #/ask: what was asked, the answers, the box, and beside them the source or the why.
import { SourceReader } from "../reader/source.js";
import { Turn } from "../ask/answer.js";
import { Composer } from "../ask/composer.js";
import { closePanel, openPanel, panels } from "../ask/panel.js";
import { panelOf } from "../ask/cited.js";
import { Preview } from "../ask/preview.js";
import { ScopeBar, queryOf, scopeOf } from "../ask/scope.js";
import { ask, clear, find, isRunning, rate, retry, stop, turns, unclear } from "../ask/turns.js";
import { Welcome } from "../ask/welcome.js";
import { Why } from "../ask/why.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { useCommands } from "../shell/commands.js";
import { useTitle } from "../shell/title.js";
import { useStore } from "../store.js";
import { shortened } from "../text.js";

export default function Ask({ route }) {
  const { list, cleared } = useStore(turns);
  const { panel } = useStore(panels);
  const scope = scopeOf(route);
  const running = list.some(isRunning);
  const put = (question, picture = null) => {
    closePanel();
    reveal(ask(question, scope, picture));
  };
  const askAnew = async (question, chosen) => {
    await closePanel();
    go(address("ask", [], queryOf(chosen)), true);
    reveal(ask(question, chosen));
  };
  useEscape(running);
  useTitle(list.length ? list.at(-1).question : "");
  useCommands(list.length ? [{ id: "clear", name: "Clear questions", run: clearAll, hint: "forget, delete, new" }] : []);
  const box = useBoxHeight();
  return html`<div class=${`ask ${panel ? "with-panel" : ""} ${list.length ? "" : "empty"} ${list.length > 1 ? "with-list" : ""}`}>
    ${list.length > 0 && html`<${Asked} list=${list} />`}
    <div class="thread">
      ${list.length
        ? html`<h1 class="unseen">Questions and answers</h1><div class="turns">${list.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} onOpen=${openPanel}
            onAsk=${askAnew} onRetry=${() => retry(turn.id)} onRate=${(rating, note) => rate(turn.id, rating, note)} />`)}</div>`
        : html`<${Welcome} scope=${scope} onAsk=${(question) => put(question)} />`}
      <div class="ask-box" ref=${box}>
        ${cleared.length > 0 && html`<${Cleared} count=${cleared.length} />`}
        <${ScopeBar} scope=${scope} onChange=${(chosen) => go(address("ask", [], queryOf(chosen)), true)} />
        <${Composer} running=${running} onAsk=${put} onStop=${stop} />
      </div>
    </div>
    <${Panel} panel=${panel} turn=${panel?.kind === "why" ? find(panel.id) : null} />
    <${Preview} onOpen=${(passage, chip) => openPanel(panelOf(passage, chip))} />
  </div>`;
}

const questions = (count) => `${count} ${count === 1 ? "question" : "questions"}`;

// The list of what was asked; each leads to its place. Folded where there is no room beside.
function Asked({ list }) {
  const wide = useWide();
  const fold = useRef(null);
  const lead = (id) => {
    if (!wide) fold.current.open = false;
    reveal(id);
  };
  return html`<nav class="asked" aria-label="Questions"><details ref=${fold} open=${wide}>
    <summary><span class="eyebrow">${questions(list.length)}</span></summary>
    <ol>${list.map((turn) => html`<li key=${turn.id}><button type="button" onClick=${() => lead(turn.id)} title=${turn.question}>${shortened(turn.question, 70)}</button></li>`)}</ol>
    <button type="button" class="text-button" onClick=${clearAll}>Clear</button></details></nav>`;
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

// The button that was pressed is gone with the list.
async function clearAll() {
  await closePanel();
  clear();
  requestAnimationFrame(() => document.querySelector(".cleared button")?.focus({ preventScroll: true }));
}

function Cleared({ count }) {
  return html`<p class="cleared" role="status"><span>${questions(count)} cleared.</span> <button type="button" class="text-button" onClick=${unclear}>Undo</button></p>`;
}

// How high the box is, so that nothing that is scrolled to or has the focus lies under it.
function useBoxHeight() {
  const box = useRef(null);
  useEffect(() => {
    const root = document.documentElement;
    const told = new ResizeObserver(() => root.style.setProperty("--box", `${box.current?.offsetHeight ?? 0}px`));
    told.observe(box.current);
    return () => {
      told.disconnect();
      root.style.removeProperty("--box");
    };
  }, []);
  return box;
}

function reveal(id) {
  requestAnimationFrame(() => {
    const turn = document.getElementById(`turn-${id}`);
    if (!turn) return;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    turn.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  });
}

// Escape stops from anywhere, but where it closes something first.
function useEscape(running) {
  useEffect(() => {
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
