// What is being brought in: each run with its files by stage, and what failed with its reason.
import { Button, IconButton } from "../components.js";
import { html } from "../html.js";
import { ENDED, follow, forgetRun, hasEnded, progressOf } from "./follow.js";
import { library } from "./library-api.js";

const SHOWN = 12;
const SAID = {
  queued: "waiting", reading: "reading", embedding: "embedding", writing: "storing", added: "added",
  replaced: "replaced", unchanged: "unchanged", failed: "failed", cancelled: "cancelled",
};

export function Runs({ list, onRetry }) {
  if (!list.length) return null;
  return html`<section class="runs" aria-label="Being brought in"><h2 class="eyebrow">Being brought in</h2>
    ${list.map((run) => html`<${Run} key=${run.id} run=${run} onRetry=${onRetry} />`)}</section>`;
}

function Run({ run, onRetry }) {
  const files = [...run.files.values()].sort((a, b) => rank(a) - rank(b) || a.n - b.n);
  const ended = ENDED.has(run.status);
  const done = files.filter(hasEnded).length;
  const failed = files.filter((file) => file.status === "failed").length;
  return html`<article class="run" aria-busy=${!ended}>
    <header><p><strong>${ended ? outcome(run, files, failed) : `${done} of ${files.length || "…"} files`}</strong>
      <span class="hint">${ended ? "" : run.stage}</span></p>
      ${ended ? html`<${IconButton} icon="close" label="Put this away" onClick=${() => forgetRun(run.id)} />`
        : html`<button type="button" class="text-button" onClick=${() => library.cancel(run.id).catch(() => {})}><span>Stop</span></button>`}
    </header>
    ${run.error && html`<p class="reason">${run.error}</p>`}
    ${run.cut && !ended && html`<p class="hint" role="status">The connection broke off; trying again. The work goes on.</p>`}
    <ul>${files.slice(0, SHOWN).map((file) => html`<${File} key=${file.n} file=${file} onRetry=${onRetry} />`)}</ul>
    ${files.length > SHOWN && html`<p class="hint">and ${files.length - SHOWN} more</p>`}
  </article>`;
}

function File({ file, onRetry }) {
  const name = file.title || file.source_uri.split("/").at(-1) || file.source_uri;
  const failed = file.status === "failed";
  return html`<li class=${`file ${file.status}`}>
    <span class="file-name" title=${file.source_uri}>${name}</span>
    <span class="file-stage">${hasEnded(file) ? SAID[file.status] : file.stage || SAID[file.status]}</span>
    <progress max="1" value=${progressOf(file)} aria-label=${`${name}: ${SAID[file.status]}`}></progress>
    ${failed && html`<p class="reason">${file.reason}${file.document_id && html` <${Button} icon="retry" onClick=${() => onRetry(file)}>Try again</>`}</p>`}
    ${(file.warnings || []).length > 0 && html`<p class="hint">${file.warnings.join("; ")}</p>`}
  </li>`;
}

// what failed first, then what is under way, then the rest
const rank = (file) => (file.status === "failed" ? 0 : hasEnded(file) ? 3 : file.status === "queued" ? 2 : 1);

function outcome(run, files, failed) {
  if (run.status === "cancelled") return "Stopped";
  if (run.status === "failed" && !files.length) return "Failed";
  const good = files.length - failed;
  return `${good} ${good === 1 ? "file" : "files"} in${failed ? `, ${failed} failed` : ""}`;
}

export { follow };
