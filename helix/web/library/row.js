// A document in the list: its box to choose it, its title, file name, facts, labels and tools.
import { dateOf } from "../dates.js";
import { Button, Icon, IconButton } from "../components.js";
import { html } from "../html.js";
import { address } from "../router.js";
import { canReadAgain, readAgain } from "./again.js";
import { factsLine } from "./details.js";
import { Labels } from "./labels.js";
import { metadataLine } from "./metadata.js";
import { Original } from "./original.js";

const STATES = { ready: "Ready", processing: "Processing", failed: "Failed" };
const MEDIA = { markdown: "md", text: "txt" };

export function Row({ one, edits, chosen, onChoose, onKey, onDelete, onEdit, onChange }) {
  const ready = one.status === "ready";
  const again = edits && canReadAgain(one);
  return html`<li class=${`document ${one.status} ${chosen ? "chosen-row" : ""}`}>
    <label class="choose"><span class="unseen">Select ${one.title}</span><input type="checkbox" data-id=${one.id} checked=${chosen}
      onClick=${(event) => onChoose(one.id, event.target.checked, event.shiftKey)} onKeyDown=${onKey} /></label>
    <span class="media" aria-hidden="true">${MEDIA[one.media] || one.media.slice(0, 5) || "…"}</span>
    <div class="document-main">
      <p class="document-title">${ready ? html`<a href=${address("source", [one.id])}>${one.title}</a>` : html`<span>${one.title}</span>`}
        ${named(one) && html`<span class="document-file hint">${named(one)}</span>`}
        ${!ready && html`<span class=${`state ${one.status}`}>${STATES[one.status] || one.status}</span>`}</p>
      ${factsLine(one) && html`<p class="hint">${factsLine(one)}</p>`}
      ${metadataLine(one) && html`<p class="hint document-metadata">${metadataLine(one)}</p>`}
      <div class="document-facts"><p class="hint">${facts(one)}</p>${ready && edits && html`<${Labels} one=${one} onTags=${(tags) => onChange({ ...one, tags })} />`}</div>
      ${one.status === "failed" && html`<p class="reason">${one.error} ${again && html`<${Button} icon="retry" onClick=${() => readAgain(one)}>Try again</>`}</p>`}
      ${one.warnings.length > 0 && html`<p class="hint warned">${one.warnings.join("; ")}</p>`}
    </div>
    <div class="document-tools">
      ${ready && html`<a class="icon-button" href=${address("ask", [], { docs: one.id })} aria-label=${`Ask ${one.title}`} title="Ask this document"><${Icon} name="ask" /></a>`}
      <${Original} one=${one} />
      ${ready && again && html`<${IconButton} icon="retry" label=${`Read ${one.title} again`} onClick=${() => readAgain(one)} />`}
      ${ready && edits && one.facts && html`<${IconButton} icon="edit" label=${`Edit title, facts and metadata of ${one.title}`} onClick=${() => onEdit(one)} />`}
      ${edits && html`<${IconButton} icon="bin" label=${`Delete ${one.title}`} onClick=${() => onDelete(one)} />`}
    </div>
  </li>`;
}

// the file's name, where the title does not say it already
const named = ({ file_name: name, title }) => (name && name !== title ? name : "");

function facts(one) {
  const when = dateOf(one.updated_at);
  const pages = one.pages ? `${one.pages} ${one.pages === 1 ? "page" : "pages"}` : "";
  const chunks = `${one.chunks.toLocaleString("en")} ${one.chunks === 1 ? "passage" : "passages"}`;
  return [bytes(one.size), pages, one.status === "ready" ? chunks : "", when].filter(Boolean).join(" · ");
}

export function bytes(count) {
  if (count < 1000) return `${count} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = count / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
