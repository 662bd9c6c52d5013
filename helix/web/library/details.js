// What a document is: its title, its file's name, the facts read from its first pages, and metadata of
// one's own; a dialog to put them right. What is put right stays so when the document is read again.
//
//   factsLine(document)             "Apple Inc. · 10-Q · quarter ended July 1, 2023"
//   <${Details} one=${document} keys=${counts.metadata} onClose=${f} onChange=${(changed) => …} />    one: null, it is closed
import { Button, Dialog, Notice } from "../components.js";
import { html } from "../html.js";
import { useWork } from "../work.js";
import { library } from "./library-api.js";
import { MetadataFields, patchOf, patched } from "./metadata.js";

const FACTS = { company: "Company", author: "Author", kind: "Kind", period: "Period", date: "Date" };

export function factsLine({ facts }) {
  return Object.keys(FACTS).map((name) => facts?.[name]).filter((value) => typeof value === "string" && value).join(" · ");
}

export const Details = ({ one, ...rest }) => html`<${Dialog} title="Edit document details" open=${one !== null} onClose=${rest.onClose}>
  ${one && html`<${Form} one=${one} ...${rest} />`}</${Dialog}>`;

function Form({ one, keys, onClose, onChange }) {
  const { busy, error, on } = useWork();
  const save = on(async (form) => {
    const changed = changes(one, form);
    if (Object.keys(changed).length) onChange(applied(one, await library.change(one.id, changed), changed));
    onClose();
  });
  return html`<form class="form" onSubmit=${save}>
      <label class="field">Title<input name="title" defaultValue=${one.title} required maxlength="500" autocomplete="off" /></label>
      <label class="field">File name<input name="file_name" defaultValue=${one.file_name || ""} maxlength="500" autocomplete="off" /></label>
      <div class="fields">${Object.entries(FACTS).map(([name, label]) => html`<label class="field" key=${name}>${label}<input name=${name} defaultValue=${one.facts?.[name] || ""} maxlength="300" autocomplete="off" /></label>`)}</div>
      <p class="hint">A question that names these is answered from this document first.</p>
      <${MetadataFields} key=${one.id} value=${one.metadata} keys=${keys} />
      ${error && html`<${Notice} kind="error">${error}</>`}
      <div class="form-end"><${Button} onClick=${onClose}>Cancel</><button class="button main" disabled=${busy}><span>Save</span></button></div>
    </form>`;
}

// Only what was changed; an emptied fact is taken away.
function changes(one, form) {
  const typed = (name) => String(form.get(name)).trim();
  const changed = {};
  for (const name of ["title", "file_name"]) {
    if (typed(name) && typed(name) !== (one[name] || "")) changed[name] = typed(name);
  }
  const facts = Object.keys(FACTS).filter((name) => typed(name) !== (one.facts?.[name] || ""));
  if (facts.length) changed.facts = Object.fromEntries(facts.map((name) => [name, typed(name) || null]));
  const metadata = patchOf(form, one.metadata);
  if (Object.keys(metadata).length) changed.metadata = metadata;
  return changed;
}

function applied(one, reply, changed) {
  const facts = { ...one.facts, ...changed.facts };
  return { title: reply?.title ?? changed.title ?? one.title, file_name: reply?.file_name ?? changed.file_name ?? one.file_name, facts: reply?.facts ?? facts, metadata: patched(one.metadata, reply?.metadata ?? {}) };
}
