// #/ask: the questions of this tab, their answers, the box, and beside them the source or the why.
import { SourceReader } from "../reader/source.js";
import { Turn } from "../ask/answer.js";
import { Composer } from "../ask/composer.js";
import { ScopeBar, queryOf, scopeOf } from "../ask/scope.js";
import { ask, find, forget, openPanel, rate, retry, stop, turns } from "../ask/turns.js";
import { Welcome } from "../ask/welcome.js";
import { Why } from "../ask/why.js";
import { html, useEffect, useLayoutEffect, useRef } from "../html.js";
import { address, go } from "../router.js";
import { useStore } from "../store.js";
import { shortened } from "../text.js";

export default function Ask({ route }) {
  const { list, panel } = useStore(turns);
  const scope = scopeOf(route);
  const running = list.some((turn) => turn.state === "waiting" || turn.state === "streaming");
  const put = (question, picture = null) => {
    openPanel(null);
    reveal(ask(question, scope, picture));
  };
  const askAnew = (question, chosen) => {
    go(address("ask", [], queryOf(chosen)), true);
    openPanel(null);
    reveal(ask(question, chosen));
  };
  useEscape(running);
  return html`<div class=${`ask ${panel ? "with-panel" : ""} ${list.length ? "" : "empty"} ${list.length > 1 ? "with-list" : ""}`}>
    ${list.length > 1 && html`<${Asked} list=${list} />`}
    <div class="thread">
      ${list.length
        ? html`<h1 class="unseen">Questions and answers</h1><div class="turns">${list.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} onOpen=${openPanel}
            onAsk=${askAnew} onRetry=${() => retry(turn.id)} onRate=${(rating, note) => rate(turn.id, rating, note)} />`)}</div>`
        : html`<${Welcome} scope=${scope} onAsk=${(question) => put(question)} />`}
      <div class="ask-box">
        <${ScopeBar} scope=${scope} onChange=${(chosen) => go(address("ask", [], queryOf(chosen)), true)} />
        <${Composer} running=${running} onAsk=${put} onStop=${stop} />
      </div>
    </div>
    <${Panel} panel=${panel} turn=${panel?.kind === "why" ? find(panel.id) : null} />
  </div>`;
}

// The list of what was asked; each leads to its place.
function Asked({ list }) {
  return html`<nav class="asked" aria-label="Questions of this tab"><h2 class="eyebrow">Asked</h2>
    <ol>${list.map((turn) => html`<li key=${turn.id}><button type="button" onClick=${() => reveal(turn.id)} title=${turn.question}>${shortened(turn.question, 70)}</button></li>`)}</ol>
    <button type="button" class="text-button" onClick=${forget}>Clear</button></nav>`;
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
      if (turns.get().panel) closePanel();
      else if (running) stop();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [running]);
}

function closePanel() {
  const opener = turns.get().panel?.opener;
  openPanel(null);
  if (opener?.isConnected) opener.focus({ preventScroll: true });
}

export function Panel({ panel, turn }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    // who steps from source to source stays at the button
    if (panel && !panel.stays) element.current.querySelector("h2")?.focus({ preventScroll: true });
  }, [panel]);
  if (!panel) return null;
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
