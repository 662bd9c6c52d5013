// #/answer/{answer_id}: an answer that was given before, as its receipt has it.
import { momentOf } from "../dates.js";
import { Panel } from "./ask.js";
import { Turn } from "../ask/answer.js";
import { closePanel, openPanel, panels } from "../ask/panel.js";
import { Preview } from "../ask/preview.js";
import { panelOf } from "../ask/cited.js";
import { askAnew } from "../conversations/asking.js";
import { removedOn } from "../conversations/marks.js";
import { fromReceipt } from "../conversations/turn.js";
import { api } from "../api.js";
import { Notice, Spinner } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address } from "../router.js";
import { useTitle } from "../shell/title.js";
import { useStore } from "../store.js";

async function askElsewhere(question, scope) {
  await closePanel();
  askAnew(question, scope);
}

export default function Answer({ route }) {
  const id = route.rest[0] || "";
  const [state, setState] = useState({ turn: null, error: null, status: null });
  const { panel } = useStore(panels);
  useEffect(() => {
    const controller = new AbortController();
    setState({ turn: null, error: null, status: null });
    // whichever of the two comes first
    api.receipt(id, controller.signal).then(
      (receipt) => setState((now) => ({ ...now, turn: fromReceipt(receipt) })),
      (error) => error.name !== "AbortError" && setState((now) => ({ ...now, error })),
    );
    api.verify(id, controller.signal).then(({ status }) => setState((now) => ({ ...now, status })), () => {});
    return () => controller.abort();
  }, [id]);
  const { turn, error } = state;
  useTitle(turn ? turn.question : "Saved answer");
  return html`<div class=${`ask ${panel ? "with-panel" : ""}`}><div class="thread"><div class="turns">
    <h1 class="unseen">Saved answer</h1>
    ${!turn && !error && html`<${Spinner} label="Loading the receipt" />`}
    ${error && html`<${Notice} kind="error" title="Answer not found.">
      <p>${[400, 404].includes(error.status) ? "Receipts are kept for a limited time, and only the tenant that asked can read them." : error.message}</p></>`}
    ${turn && html`<p class="hint">Answered ${momentOf(turn.asked)}</p>`}
    ${turn && state.status && state.status !== "holds" && html`<${Notice} kind="warn" title="A source of this answer has changed since."><p>${state.status === "source deleted" ? removedOn(turn.removedAt) : "The quotes may no longer match it."}</p></>`}
    ${turn && html`<${Turn} turn=${turn} onOpen=${openPanel} onAsk=${askElsewhere} onRetry=${() => {}}
      onRate=${(rating, note) => setState((now) => ({ ...now, turn: { ...now.turn, rating, note } }))} />`}
    <p class="page-end"><a href=${address("ask")}>Ask another question</a></p>
  </div></div><${Panel} panel=${panel} turn=${turn} />
    <${Preview} onOpen=${(passage, chip) => openPanel(panelOf(passage, chip))} /></div>`;
}
