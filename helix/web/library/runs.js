// What is being brought in: each run with its files by stage, and what failed with its reason.
import { Button, IconButton } from "../components.js";
import { html } from "../html.js";
import { ENDED, forgetRun, hasEnded, progressOf } from "./follow.js";
import { isWeb, readAgain } from "./again.js";
import { library } from "./library-api.js";

const SHOWN = 12;
const SAID = {
  queued: "waiting", reading: "reading", embedding: "embedding", writing: "storing", added: "added",
  replaced: "replaced", unchanged: "unchanged", failed: "failed", cancelled: "stopped",
};

export function Runs({ list }) {
  if (!list.length) return null;
  return html`<section class="runs" aria-labelledby="runs"><h2 class="eyebrow" id="runs">Being brought in</h2>
    ${list.map((run) => html`<${Run} key=${run.id} run=${run} />`)}</section>`;
}

function Run({ run }) {
  const files = [...run.files.values()].sort((a, b) => rank(a) - rank(b) || a.n - b.n);
  const ended = ENDED.has(run.status);
  const again = run.status === "failed" && !files.length && isWeb(run.url);
  return html`<article class="run" aria-busy=${!ended} aria-label=${titleOf(run, files)}>
    <header><p><strong>${titleOf(run, files)}</strong> <span class="hint">${stageOf(run, files, ended)}</span></p>
      ${ended ? html`<${IconButton} icon="close" label="Put this away" onClick=${() => forgetRun(run.id)} />`
        : html`<button type="button" class="text-button" onClick=${() => library.cancel(run.id).catch(() => {})}><span>Stop</span></button>`}
    </header>
    ${run.url && !files.length && html`<p class="hint run-url">${run.url}</p>`}
    ${run.error && html`<p class="reason">${run.error}${again && html` <${Again} run=${run} what=${{ source_uri: run.url }} />`}</p>`}
    ${run.cut && !ended && html`<p class="hint" role="status">The connection broke off; trying again. The work goes on.</p>`}
    <ul>${files.slice(0, SHOWN).map((file) => html`<${File} key=${file.n} run=${run} file=${file} />`)}</ul>
    ${files.length > SHOWN && html`<p class="hint">and ${files.length - SHOWN} more</p>`}
  </article>`;
}

function File({ run, file }) {
  const name = file.title || file.source_uri.split("/").filter(Boolean).at(-1) || file.source_uri;
  const failed = file.status === "failed";
  const again = failed && (file.document_id || isWeb(file.source_uri));
  return html`<li class=${`file ${file.status}`}>
    <span class="file-name" title=${file.source_uri}>${name}</span>
    <span class="file-stage">${hasEnded(file) ? SAID[file.status] : file.stage || SAID[file.status]}</span>
    <progress max="1" value=${progressOf(file)} aria-label=${`${name}: ${SAID[file.status]}`}></progress>
    ${failed && html`<p class="reason">${file.reason} ${again && html`<${Again} run=${run} what=${file} />`}</p>`}
    ${(file.warnings || []).length > 0 && html`<p class="hint">${file.warnings.join("; ")}</p>`}
  </li>`;
}

// The run of the second attempt takes the place of the one that failed, if that was all of it.
function Again({ run, what }) {
  const retry = async () => {
    if ((await readAgain(what)) && run.files.size <= 1) forgetRun(run.id);
  };
  return html`<${Button} icon="retry" onClick=${retry}>Try again</>`;
}

// what failed first, then what is under way, then the rest
const rank = (file) => (file.status === "failed" ? 0 : hasEnded(file) ? 3 : file.status === "queued" ? 2 : 1);

const files = (n) => `${n} ${n === 1 ? "file" : "files"}`;

function titleOf(run, list) {
  if (run.status === "cancelled") return "Stopped";
  if (run.status === "failed" && !list.length) return "It failed";
  const failed = list.filter((file) => file.status === "failed").length;
  const good = list.filter((file) => hasEnded(file)).length - failed;
  if (ENDED.has(run.status)) return good ? `${files(good)} read${failed ? `, ${failed} failed` : ""}` : `${files(failed)} failed`;
  return list.length ? `${good + failed} of ${files(list.length)}` : "Beginning";
}

function stageOf(run, list, ended) {
  if (ended) return "";
  if (run.status === "cancelling") return "stopping";
  // of the stages, "files" is told by the files themselves
  const stage = { files: "", scan: "looking what there is" }[run.stage] ?? run.stage;
  return stage || (list.length ? "" : "waiting for a worker");
}
