// One question and its answer: Markdown as it streams, chips, marks, refusal, what can be done.
//
//   <${Turn} turn=${turn} onOpen=${(panel) => …} onRetry=${f} onRate=${(rating, note) => …}
//      onAsk=${(question, scope) => …} conversation=${id} isLinked=${b} onEdit=${(question) => …}
//      onSwitch=${(message) => …} />      without the last two: as a receipt has it
import { useSharing } from "../accounts/sharing/use-sharing.js";
import { api } from "../api.js";
import { Button, Dialog, Icon, IconButton, Notice, Spinner, announce, copyText, toast } from "../components.js";
import { listen, textOf } from "../conversations/following.js";
import { FromHistory, Imported, Stale, Understood } from "../conversations/marks.js";
import { Question } from "../conversations/question.js";
import { awayOf, isOfImages, isRunning } from "../conversations/turn.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Prose } from "../markdown.js";
import { address } from "../router.js";
import { titleOf } from "../shell/about.js";
import { shortened } from "../text.js";
import { Calculated } from "./calculated.js";
import { panelOf, passageAt, passageOfName, quotesOf } from "./cited.js";
import { Elsewhere } from "./elsewhere.js";
import { Pictures } from "./picture.js";
import { wantsPreview, watchChips } from "./preview.js";
import { Refusal, SuggestedScope } from "./refusal.js";
import { Sources, asText } from "./sources.js";
import { Steps } from "./steps.js";
import { ReadAloud } from "./voice.js";
import { problemOf } from "./why-sentences.js";

export function Turn({ turn, onOpen, onRetry, onRate, onAsk, onEdit, onSwitch, conversation = null, isLinked = false }) {
  const { images } = turn;
  const seen = isOfImages(turn);
  const done = turn.state === "done" && !turn.isEmptied;
  const cites = done && !seen && !turn.abstained && turn.turnType !== "conversational";
  const waits = turn.state === "waiting" && !turn.away && (seen ? `Looking at the ${images.length > 1 ? "images" : "image"}` : "Looking through the documents");
  return html`<article class=${isLinked ? "turn linked" : "turn"} id=${`turn-${turn.local}`} aria-label=${`Question: ${shortened(turn.question, 80)}`} aria-busy=${isRunning(turn)}>
    <${Question} turn=${turn} onEdit=${onEdit} onSwitch=${onSwitch} />
    ${done && html`<${Understood} turn=${turn} />`}
    ${images.length > 0 && html`<${Pictures} images=${images} conversation=${conversation} />`}
    ${turn.steps ? html`<${Steps} turn=${turn} onOpen=${onOpen} />` : waits && html`<${Spinner} label=${waits} />`}
    ${done && seen && html`<p class="from-picture"><${Icon} name="image" /><span>From the ${images.length > 1 ? "images" : "image"}, not from your documents</span></p>`}
    ${turn.isEmptied ? null : done && turn.abstained ? html`<${Refusal} turn=${turn} onOpen=${onOpen} onAsk=${onAsk} />` : html`<${Body} key=${`${turn.local} ${turn.state === "waiting" ? "none" : "some"}`} turn=${turn} onOpen=${onOpen} />`}
    ${turn.away && html`<${Spinner} label=${awayOf(turn)} />`}
    <${Trouble} turn=${turn} onRetry=${onRetry} />
    ${done && turn.leftOut > 0 && !turn.abstained && html`<p class="support-note"><${Icon} name="warn" /><span>${turn.leftOut} ${turn.leftOut === 1 ? "sentence was" : "sentences were"} left out: no source supports ${turn.leftOut === 1 ? "it" : "them"}.</span></p>`}
    ${turn.imported && html`<${Imported} />`}
    ${done && html`<${FromHistory} turn=${turn} />`}
    ${turn.state === "done" && html`<${Stale} turn=${turn} onRetry=${onRetry} />`}
    ${done && html`<${Calculated} turn=${turn} onOpen=${onOpen} />`}
    ${cites && html`<${Sources} turn=${turn} onOpen=${onOpen} />`}
    ${done && html`<${SuggestedScope} turn=${turn} onAsk=${onAsk} />`}
    ${done && html`<${Actions} turn=${turn} conversation=${conversation} onOpen=${onOpen} onRate=${onRate} onRetry=${onSwitch && onRetry} />`}
  </article>`;
}

export function Body({ turn, onOpen }) {
  const element = useRef(null);
  const prose = useRef(null);
  const finished = useRef(false);
  const turnNow = useRef(turn);
  turnNow.current = turn;
  const led = (chip) => passageAt(turnNow.current, prose.current.markerOf(chip) || {});
  const make = () => {
    prose.current?.stop();
    prose.current = new Prose(element.current, {
      onCite: (chip) => {
        if (wantsPreview(chip, led(chip))) return;
        const panel = panelOf(led(chip), chip, passages(turnNow.current));
        if (panel) onOpen(panel);
      },
      onName: (name, button) => onOpen(panelOf(passageOfName(name, turnNow.current), button)),
      onSettled: (text) => turnNow.current.state === "streaming" && announce(shortened(text, 600)),
    });
  };
  useEffect(() => {
    make();
    const text = textOf(turn);
    if (text) prose.current.show(text);
    const forget = listen(turn.local, (now) => prose.current.show(now));
    const unwatch = watchChips(element.current, led);
    return () => {
      forget();
      unwatch();
      prose.current.stop();
    };
  }, [turn.local]);
  useEffect(() => {
    if (isRunning(turn)) return;
    if (finished.current) make(); // asked again, or words of it are gone
    finished.current = true;
    prose.current.finish(turn.text);
    if (turn.names.length) prose.current.name(turn.names);
    prose.current.cite(turn.citations, turn.support?.statements);
    prose.current.mark([...unsupported(turn.support), ...beside(turn.support)]);
    prose.current.found(foundByProof(turn));
    if (turn.state === "done" && fresh(turn)) announce("The answer is complete.");
  }, [turn.state, turn.answerId, turn.text]);
  return html`<div class=${turn.state === "streaming" ? "prose streaming" : "prose"} ref=${element}></div>`;
}

const passages = (turn) => turn.citations.flatMap((citation) => quotesOf(turn, citation));

function fresh(turn) {
  return Date.now() - Date.parse(turn.asked) < 600_000;
}

function foundByProof({ support, citations }) {
  const titles = new Map(citations.map(({ n, title }) => [n, title]));
  return (support?.statements || []).flatMap(({ by, status, start, end, spans: [span] = [] }, at) =>
    span && (by || status === "misattributed") ? [{ n: span.n, start, end, at, title: titles.get(span.n), named: by ? "no" : "another" }] : []);
}

function unsupported(support) {
  return (support?.statements || [])
    .filter((statement) => !statement.supported)
    .map((statement) => ({ ...statement, problem: problemOf(statement) }));
}

// What is quoted to the letter and yet bears on something else than the question.
function beside(support) {
  return (support?.statements || [])
    .filter((statement) => statement.supported && statement.reason)
    .map((statement) => ({ ...statement, beside: true, problem: statement.reason }));
}

function Trouble({ turn, onRetry }) {
  const again = html`<${Button} icon="retry" onClick=${onRetry}>Ask again</>`;
  if (turn.state === "stopped") return html`<div class="stopped"><${Icon} name="stop" /><span>Stopped${turn.text ? ": this is not the whole answer" : ""}.</span> ${again}${turn.model && html`<${WrittenBy} model=${turn.model} />`}</div>`;
  if (turn.state === "cut") return html`<${Notice} kind="error" title="This is not the whole answer."><p>${turn.error}</p>${again}</>`;
  if (turn.state === "failed") return html`<${Notice} kind="error" title=${turn.text ? "This is not the whole answer." : "There is no answer."}><p>${turn.error}</p>${again}</>`;
  if (turn.state !== "done" || turn.abstained || turn.isEmptied) return null;
  const open = unsupported(turn.support).length;
  const aside = beside(turn.support).length;
  const all = turn.support?.statements.length;
  if (open) return html`<p class="support-note"><${Icon} name="warn" /><span>${open} of ${all} ${all === 1 ? "sentence is" : "sentences"} not supported by a source, and marked above.</span></p>`;
  if (aside) return html`<p class="support-note"><${Icon} name="warn" /><span>${aside} of ${all} ${all === 1 ? "sentence is" : "sentences"} quoted, but not about what was asked, and marked above.</span></p>`;
  if (turn.support?.answers?.probability < 0.5) return html`<p class="support-note"><${Icon} name="warn" /><span>Supported by the documents, but it may not answer your question: open the passage to check.</span></p>`;
  return null;
}

function Actions({ turn, conversation, onOpen, onRate, onRetry }) {
  const [noting, setNoting] = useState(false);
  const [elsewhere, setElsewhere] = useState(false);
  const seen = isOfImages(turn);
  const sharing = useSharing({ conversation: turn.id !== null && conversation, message: turn.id, name: turn.question });
  const copy = async () => toast((await copyText(asText(turn))) ? (seen ? "Answer copied" : "Answer copied with its sources") : "It could not be copied");
  const place = conversation && turn.id !== null ? address("c", [conversation, turn.id]) : address("answer", [turn.answerId || ""]);
  const link = new URL(place, location.href).href;
  const share = async () => toast((await copyText(link)) ? "Link copied" : "The link could not be copied");
  const copyTrace = async () => toast((await copyText(turn.traceId)) ? "Trace id copied: it is in the server’s logs and traces" : "It could not be copied");
  const rate = async (rating, note = "") => {
    try {
      await api.feedback(turn.answerId, note ? { rating, note } : { rating });
    } catch (error) {
      toast(error.status === 404 ? "This answer has no receipt, so it cannot be rated" : error.message);
      return;
    }
    onRate(rating, note);
    toast("Thank you");
    setNoting(!note);
  };
  return html`<div class="actions" role="group" aria-label="This answer">
    <${IconButton} icon="copy" label=${seen ? "Copy the answer" : "Copy the answer with its sources"} onClick=${copy} />
    ${turn.text && html`<${IconButton} icon="open" label="Export this answer" onClick=${() => setElsewhere(true)} /><${Elsewhere} turn=${turn} open=${elsewhere} onClose=${() => setElsewhere(false)} />`}
    <${ReadAloud} text=${textOf(turn)} />
    ${sharing.may && html`<${IconButton} icon="share" label="Share this answer" onClick=${sharing.open} />${sharing.dialog}`}
    ${turn.answerId && html`<${IconButton} icon="link" label="Copy a link to this answer" onClick=${share} />
      <${IconButton} icon="up" label="Good answer" pressed=${turn.rating === "up"} onClick=${() => rate("up")} />
      <${IconButton} icon="down" label="Bad answer" pressed=${turn.rating === "down"} onClick=${() => rate("down")} />`}
    ${onRetry && html`<${IconButton} icon="retry" label="Answer again" onClick=${onRetry} />`}
    ${turn.model && html`<${WrittenBy} model=${turn.model} />`}
    ${!seen && !turn.imported && html`<button type="button" class="text-button" onClick=${(event) => onOpen({ kind: "why", id: turn.id ?? turn.local, opener: event.currentTarget })}><${Icon} name="why" /><span>Why this answer</span></button>`}
    ${turn.traceId && html`<button type="button" class="trace" title=${`Copy the trace id ${turn.traceId}`} onClick=${copyTrace}><span class="unseen">Copy the trace id </span><${Icon} name="copy" /><code>${turn.traceId.slice(0, 8)}</code></button>`}
    <${Note} open=${noting} onClose=${() => setNoting(false)} onSend=${(note) => rate(turn.rating, note)} />
  </div>`;
}

// Where the model's service had another answer than the one that was asked, both are told.
function WrittenBy({ model: { asked, routed, title } }) {
  return html`<span class="written-by"><span class="unseen">Answered by </span>${title}${routed ? ` instead of ${titleOf(asked)}` : ""}</span>`;
}

function Note({ open, onClose, onSend }) {
  const send = (event) => {
    event.preventDefault();
    const note = String(new FormData(event.target).get("note")).trim();
    if (note) onSend(note);
    onClose();
  };
  return html`<${Dialog} title="Add a note" open=${open} onClose=${onClose}><form class="form" onSubmit=${send}>
    <label class="field">Note<textarea name="note" rows="3" maxlength="2000"></textarea></label>
    <p class="hint">The note is stored with the receipt of this answer, on this server.</p>
    <div class="form-end"><${Button} onClick=${onClose}>Skip</><button class="button main"><span>Send</span></button></div></form></${Dialog}>`;
}
