// What is being brought in: a card for what was asked for at once, with its files by stage, what was
// refused or failed with its reason. A card that ended well folds away by itself.
import { Button, IconButton, toast } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { sentence } from "../shell/failures.js";
import { useStore } from "../store.js";
import { readAgain } from "./again.js";
import { ENDED, forgetRun, hasEnded, progressOf, runs } from "./follow.js";
import { cards, count, putAway, stopSending } from "./intake.js";
import { library } from "./library-api.js";
import { isWeb } from "../text.js";

const SHOWN = 12;
const FOLDS = 5000; // ms after its end; not while it is looked at
const SAID = {
  queued: "waiting", reading: "reading", embedding: "indexing", writing: "storing", added: "added",
  replaced: "replaced", unchanged: "unchanged", failed: "failed", cancelled: "stopped",
};

export function Cards() {
  const list = useCards();
  const [folded, setFolded] = useState(new Set());
  const open = list.filter(({ id }) => !folded.has(id));
  const away = list.filter(({ id }) => folded.has(id));
  if (!list.length) return null;
  return html`<section class="runs" aria-labelledby="runs"><h2 class="eyebrow" id="runs">Imports</h2>
    ${open.map((card) => html`<${Card} key=${card.id} card=${card} onFold=${() => setFolded((now) => new Set([...now, card.id]))} />`)}
    ${away.length > 0 && html`<details class="finished"><summary>${count(away.length, "finished", "finished")}: ${away.slice(0, 3).map(summaryOf).join("; ")}</summary>
      ${away.map((card) => html`<${Card} key=${card.id} card=${card} />`)}
      <${Button} onClick=${() => away.forEach(putAwayCard)}>Dismiss all</></details>`}
  </section>`;
}

// The cards of this tab, and one for each run that was started elsewhere; newest first.
export function useCards() {
  const { list } = useStore(runs);
  const { list: started } = useStore(cards);
  const own = new Set(started.flatMap((card) => card.runs));
  const others = list.filter(({ id }) => !own.has(id)).map((run) => ({ id: `run ${run.id}`, sending: 0, known: 0, refused: [], runs: [run.id] }));
  return [...started, ...others].map((card) => stateOf(card, list.filter(({ id }) => card.runs.includes(id))));
}

function stateOf(card, its) {
  const files = its.flatMap((run) => [...run.files.values()].map((file) => ({ ...file, run })));
  const failed = files.filter((file) => file.status === "failed").length;
  const ended = !card.sending && its.every((run) => ENDED.has(run.status));
  const bad = failed + card.refused.length + its.filter((run) => run.error || (run.status === "failed" && !run.files.size)).length;
  return { ...card, its, files, failed, ended, bad, good: files.filter(hasEnded).length - failed };
}

const putAwayCard = (card) => (typeof card.id === "number" ? putAway(card.id) : card.runs.forEach(forgetRun));

function Card({ card, onFold }) {
  const { its, files, refused, ended } = card;
  const element = useRef(null);
  const well = ended && !card.bad;
  useEffect(() => {
    if (!well || !onFold) return undefined;
    const timer = setInterval(() => element.current?.matches(":hover, :focus-within") || onFold(), FOLDS);
    return () => clearInterval(timer);
  }, [well, onFold === undefined]);
  const stop = () => {
    stopSending(card.id);
    its.filter((run) => !ENDED.has(run.status)).forEach((run) => library.cancel(run.id).catch((error) => toast(error.message)));
  };
  const sorted = [...files].sort((a, b) => rank(a) - rank(b) || a.n - b.n);
  const url = its[0]?.url;
  const again = its.length === 1 && its[0].status === "failed" && !files.length && isWeb(url);
  const errors = [...new Set(its.map((run) => run.error).filter(Boolean))];
  return html`<article class="run" ref=${element} aria-busy=${!ended} aria-label=${summaryOf(card)}>
    <header><p role="status"><strong>${summaryOf(card)}</strong> <span class="hint">${stageOf(card)}</span></p>
      ${ended ? html`<${IconButton} icon="close" label="Dismiss" onClick=${() => putAwayCard(card)} />`
        : (its.length > 0 || card.sending > 0) && html`<button type="button" class="text-button" onClick=${stop}><span>Stop</span></button>`}
    </header>
    <${Sent} card=${card} />
    ${url && (!files.length || its[0].kind === "crawl") && html`<p class="hint run-url">${url}</p>`}
    ${card.known > 0 && html`<p class="hint">${card.known === 1 ? "One file is" : `${card.known} files are`} in the library already.</p>`}
    ${errors.map((error) => html`<p class="reason" key=${error}>${error}${again && html` <${Again} card=${card} what=${{ source_uri: url }} />`}</p>`)}
    ${its.some((run) => run.cut && !ENDED.has(run.status)) && html`<p class="hint">The connection was lost; reconnecting. The import continues.</p>`}
    <ul>
      ${refused.map(({ name, reason }, n) => html`<li class="file failed refused" key=${`${name} ${n}`}><span class="file-name" title=${name}>${name}</span><span class="file-stage">refused</span><p class="reason">${sentence(reason)}</p></li>`)}
      ${sorted.slice(0, SHOWN).map((file) => html`<${File} key=${`${file.run.id} ${file.n}`} card=${card} file=${file} />`)}
    </ul>
    ${sorted.length > SHOWN && html`<p class="hint">and ${(sorted.length - SHOWN).toLocaleString("en")} more</p>`}
  </article>`;
}

export const Sent = ({ card: { sending, sent } }) => sending > 0 && html`<progress value=${sent} aria-label="Sent"></progress>`;

function File({ card, file }) {
  const name = file.title || file.source_uri.split("/").filter(Boolean).at(-1) || file.source_uri;
  const failed = file.status === "failed";
  // a page of the web is asked for again once its run is over, or it would be the same run
  const again = failed && (isWeb(file.source_uri) ? ENDED.has(file.run.status) : file.document_id);
  return html`<li class=${`file ${file.status}`}>
    <span class="file-name" title=${file.source_uri}>${name}</span>
    <span class="file-stage">${SAID[file.status]}${!hasEnded(file) && file.total ? ` ${Math.max(file.done, 1)} of ${file.total}` : ""}</span>
    <progress max="1" value=${progressOf(file)} aria-label=${`${name}: ${SAID[file.status]}`}></progress>
    ${failed && html`<p class="reason">${sentence(file.reason)} ${again && html`<${Again} card=${card} what=${file} />`}</p>`}
    ${(file.warnings || []).length > 0 && html`<p class="hint">${file.warnings.join("; ")}</p>`}
  </li>`;
}

// The card of the second attempt takes the place of the one that failed, if that was all of it.
function Again({ card, what }) {
  const retry = async () => {
    const run = await readAgain(what);
    if (run !== null && !card.runs.includes(run) && card.files.length + card.refused.length <= 1) putAwayCard(card);
  };
  return html`<${Button} icon="retry" onClick=${retry}>Try again</>`;
}

// what failed first, then what is under way, then the rest
const rank = (file) => (file.status === "failed" ? 0 : hasEnded(file) ? 3 : file.status === "queued" ? 2 : 1);

export function summaryOf(card) {
  const { its, files, refused, failed, good, unsent } = card;
  const crawled = its.some((run) => run.kind === "crawl" || run.kind === "url");
  const some = (n) => count(n, crawled ? "page" : "file", crawled ? "pages" : "files");
  if (card.sending) return `Sending ${some(card.sending)}`;
  const rest = [failed && `${failed} failed`, refused.length && `${refused.length} refused`, unsent && `${unsent} not sent`].filter(Boolean);
  if (!its.length) return unsent ? "Stopped" : rest.length ? some(refused.length) + " refused" : "Nothing new";
  if (card.ended) {
    if (its.every((run) => run.status === "cancelled")) return "Stopped";
    if (!files.length && card.bad) return "Failed";
    if (!good && failed) return [`${some(failed)} failed`, ...rest.slice(1)].join(", ");
    return [`${some(good)} read`, ...rest].join(", ");
  }
  return files.length ? [`${good + failed} of ${some(files.length)}`, ...rest].join(", ") : "Starting";
}

function stageOf({ its, files, ended, sending }) {
  if (sending || ended || !its.length) return "";
  if (its.some((run) => run.status === "cancelling")) return "stopping";
  const crawling = its.find((run) => run.stage === "scan" && run.kind === "crawl");
  if (crawling) return `looking for more pages${crawling.ignored ? `, ${crawling.ignored} skipped` : ""}`;
  // of the stages, "files" is told by the files themselves
  const stage = { files: "", scan: "looking for files" }[its[0].stage] ?? its[0].stage;
  return stage || (files.length ? "" : "waiting for a worker");
}
