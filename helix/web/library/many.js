// What can be done with the chosen documents at once: ask, label, describe, rename, read again, delete. Each
// document is changed as a whole or not at all, and what could not be done is told one by one.
//
//   <${Many} documents=${shown} total=${n} picked=${useChosen(…)} doing=${doing} setDoing=${f} counts=${counts} />
import { Button, Dialog, Icon, Notice, toast } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address } from "../router.js";
import { count, show } from "./intake.js";
import { labelsOf } from "./labels.js";
import { library } from "./library-api.js";
import { changedHere } from "./live.js";
import { MetadataFields, patchOf } from "./metadata.js";
import { DocumentSpaces } from "./document-spaces.js";
import { useSpaces } from "../shell/spaces.js";
import { useWork } from "../work.js";

const SLICE = 500; // of one request, so that the count goes on
const ASKED = 1000; // documents that a question can name
const RENAMED = 50;
const documents = (n) => count(n, "document", "documents");

export function Many({ shown, total, picked, doing, setDoing, counts, edits }) {
  const { several } = useSpaces();
  const { chosen } = picked;
  const ids = [...chosen];
  const known = shown.filter((one) => chosen.has(one.id));
  const close = () => setDoing("");
  if (!ids.length && !doing) return null;
  return html`<div class="many" role="region" aria-label="Selected documents">
    <p role="status"><strong>${ids.length.toLocaleString("en")} selected</strong></p>
    ${ids.length < total && html`<button type="button" class="text-button" onClick=${picked.matching}><span>Select all ${total.toLocaleString("en")}</span></button>`}
    <div class="many-tools">
      ${ids.length <= ASKED && html`<a class="button" href=${address("ask", [], { docs: ids.join(",") })}><${Icon} name="ask" /><span>Ask</span></a>`}
      ${edits && html`<${Button} icon="label" onClick=${() => setDoing("label")}>Label</>
      <${Button} icon="plus" onClick=${() => setDoing("describe")}>Metadata</>
      ${several && html`<${Button} icon="cards" onClick=${() => setDoing("place")}>Space</>`}
      <${Button} icon="edit" onClick=${() => setDoing("rename")}>Rename</>
      <${Button} icon="retry" onClick=${() => setDoing("reread")}>Read again</>
      <${Button} icon="bin" kind="danger" onClick=${() => setDoing("delete")}>Delete</>`}
      <${Button} onClick=${picked.none}>Clear selection</>
    </div>
    <${Dialog} title=${`Label ${documents(ids.length)}`} open=${doing === "label"} onClose=${close}><${Labelling} ids=${ids} known=${known} counts=${counts} picked=${picked} onDone=${close} /></${Dialog}>
    <${Dialog} title=${`Metadata of ${documents(ids.length)}`} open=${doing === "describe"} onClose=${close}><${Describing} ids=${ids} known=${known} counts=${counts} picked=${picked} onDone=${close} /></${Dialog}>
    <${Dialog} title=${`Spaces of ${documents(ids.length)}`} open=${doing === "place"} onClose=${close}><${DocumentSpaces} ids=${ids} known=${known} picked=${picked} onDone=${close} /></${Dialog}>
    <${Dialog} wide title=${`Rename ${documents(ids.length)}`} open=${doing === "rename"} onClose=${close}><${Renaming} ids=${ids} known=${known} picked=${picked} onDone=${close} /></${Dialog}>
    <${Dialog} title=${`Read ${documents(ids.length)} again?`} open=${doing === "reread"} onClose=${close}>
      <${Sure} ids=${ids} known=${known} picked=${picked} onDone=${close} body=${{ action: "reread" }} label="Read again">
        <p>Uploads are read from the stored files; web pages are fetched again. Until then the documents stay as they are.</p></${Sure}></${Dialog}>
    <${Dialog} title=${`Delete ${documents(ids.length)}?`} open=${doing === "delete"} onClose=${close}>
      <${Sure} ids=${ids} known=${known} picked=${picked} onDone=${close} body=${{ action: "delete" }} label=${`Delete ${documents(ids.length)}`} danger>
        <ul class="many-list">${known.slice(0, 5).map((one) => html`<li key=${one.id}>${one.title}</li>`)}${ids.length > Math.min(known.length, 5) && html`<li>and ${(ids.length - Math.min(known.length, 5)).toLocaleString("en")} more</li>`}</ul>
        <p>This permanently deletes their texts, passages, vectors and uploaded files, and their quotes in saved answers.</p></${Sure}></${Dialog}>
  </div>`;
}

// Sends what is to be done, slice by slice; what failed stays chosen, and is told with its reason.
const batch = (body, some, titles) => library.batch({ ...body, ids: some, ...(titles ? { titles: some.map((id) => titles.get(id)) } : {}) });

export function useBatch({ ids, known, picked, onDone, send = batch }) {
  const [state, setState] = useState({ busy: false, done: 0, problems: [], error: "" });
  const [run] = useState(() => async (body, titles, all) => {
    setState({ busy: true, done: 0, problems: [], error: "" });
    const problems = [];
    let done = 0;
    let error = "";
    for (let at = 0; at < all.length && !error; at += SLICE) {
      const some = all.slice(at, at + SLICE);
      try {
        const result = await send(body, some, titles);
        problems.push(...result.documents.filter((one) => one.error));
        result.runs.forEach(show);
        done += result.done;
        setState({ busy: true, done, problems, error: "" });
      } catch (problem) {
        error = `${done.toLocaleString("en")} of ${all.length.toLocaleString("en")} done. ${problem.message}`;
      }
    }
    changedHere();
    setState({ busy: false, done, problems, error });
    return { done, problems, error };
  });
  const start = async (body, said, titles = null) => {
    const all = titles ? [...titles.keys()] : ids;
    const { done, problems, error } = await run(body, titles, all);
    if (problems.length || error) {
      if (!error) picked?.keep(problems.map(({ id }) => id));
      return;
    }
    toast(`${documents(done)} ${said}`);
    picked?.none();
    onDone();
  };
  const title = (id) => known.find((one) => one.id === id)?.title || `Document ${id}`;
  const report = html`${state.busy && ids.length > SLICE && html`<p role="status" class="hint">${state.done.toLocaleString("en")} of ${ids.length.toLocaleString("en")} …</p>`}
    ${state.error && html`<${Notice} kind="error">${state.error}</>`}
    ${!state.busy && state.problems.length > 0 && html`<${Notice} kind="error" title=${`${documents(state.done)} done, ${state.problems.length} not.`}>
      <ul class="many-list">${state.problems.slice(0, 20).map(({ id, error }) => html`<li key=${id}><strong>${title(id)}</strong>: ${error}</li>`)}</ul></>`}`;
  return { send: start, busy: state.busy, report };
}

const SAID = { delete: "deleted", reread: "being read again" };

function Sure({ body, label, danger, children, ...rest }) {
  const { send, busy, report } = useBatch(rest);
  return html`${children}${report}<div class="form-end"><${Button} onClick=${rest.onDone}>Cancel</>
    <${Button} kind=${danger ? "danger" : "main"} disabled=${busy || !rest.ids.length} onClick=${() => send(body, SAID[body.action])}>${label}</></div>`;
}

function Labelling({ counts, ...rest }) {
  const { ids, known } = rest;
  const { send, busy, report } = useBatch(rest);
  const [error, setError] = useState("");
  // of documents that are not shown nobody knows the labels
  const their = known.length === ids.length ? [...new Set(known.flatMap((one) => one.tags))].sort() : (counts?.labels || []).map(({ name }) => name);
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const [add, remove] = [labelsOf(String(form.get("add"))), form.getAll("remove").map(String)];
    setError(add.length + remove.length ? "" : "Type a label to add, or select one to remove.");
    if (add.length + remove.length) send({ action: "label", add, remove }, "labelled");
  };
  return html`<form class="form" onSubmit=${submit}>
    <label class="field">Add labels<input name="add" data-focus list="labels-there" autocomplete="off" placeholder="travel, 2026" /></label>
    <datalist id="labels-there">${(counts?.labels || []).map(({ name }) => html`<option key=${name} value=${name} />`)}</datalist>
    ${their.length > 0 && html`<fieldset class="tags"><legend>Remove labels</legend>${their.slice(0, 60).map((tag) => html`<label class="tag" key=${tag}><input type="checkbox" name="remove" value=${tag} /><span>${tag}</span></label>`)}</fieldset>`}
    ${error && html`<${Notice} kind="error">${error}</>`}${report}
    <div class="form-end"><${Button} onClick=${rest.onDone}>Cancel</><button class="button main" disabled=${busy}><span>Save</span></button></div>
  </form>`;
}

// Of all of them or of none: what is typed is set, what is ticked taken away.
function Describing({ ids, known, counts, picked, onDone }) {
  const { busy, error, on } = useWork();
  const keys = counts?.metadata || [];
  const their = known.length === ids.length ? [...new Set(known.flatMap((one) => Object.keys(one.metadata)))].sort() : keys.map(({ name }) => name);
  const submit = on(async (form) => {
    const patch = { ...Object.fromEntries(form.getAll("remove").map((key) => [key, null])), ...patchOf(form) };
    if (!Object.keys(patch).length) throw new Error("Add a key, or select one to remove.");
    const { changed } = await library.describe({ ids, metadata: patch });
    changedHere();
    toast(`${documents(changed)} changed`);
    picked.none();
    onDone();
  });
  return html`<form class="form" onSubmit=${submit}>
    <${MetadataFields} keys=${keys} />
    ${their.length > 0 && html`<fieldset class="tags"><legend>Remove keys</legend>${their.slice(0, 60).map((key) => html`<label class="tag" key=${key}><input type="checkbox" name="remove" value=${key} /><span>${key}</span></label>`)}</fieldset>`}
    ${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end"><${Button} onClick=${onDone}>Cancel</><button class="button main" disabled=${busy}><span>Save</span></button></div>
  </form>`;
}

function Renaming(rest) {
  const { ids, known } = rest;
  const { send, busy, report } = useBatch(rest);
  const [titles, setTitles] = useState(() => new Map(known.map((one) => [one.id, one.title])));
  const [swap, setSwap] = useState({ from: "", to: "" });
  useEffect(() => { if (!busy) setTitles(new Map(known.map((one) => [one.id, titles.get(one.id) ?? one.title]))); }, [ids.join()]);
  if (ids.length > RENAMED || known.length < ids.length) {
    return html`<${Notice}>At most ${RENAMED} of the shown documents can be renamed at once: select fewer.</><div class="form-end"><${Button} onClick=${rest.onDone}>Cancel</></div>`;
  }
  const changed = new Map([...titles].filter(([id, title]) => title.trim() && title.trim() !== known.find((one) => one.id === id)?.title));
  const replace = () => swap.from && setTitles(new Map([...titles].map(([id, title]) => [id, title.replaceAll(swap.from, swap.to)])));
  const submit = (event) => {
    event.preventDefault();
    if (changed.size) send({ action: "rename" }, "renamed", changed);
    else rest.onDone();
  };
  return html`<form class="form" onSubmit=${submit}>
    <div class="swap"><label class="field">Replace<input value=${swap.from} onInput=${(event) => setSwap({ ...swap, from: event.target.value })} autocomplete="off" /></label>
      <label class="field">with<input value=${swap.to} onInput=${(event) => setSwap({ ...swap, to: event.target.value })} autocomplete="off" /></label>
      <${Button} disabled=${!swap.from} onClick=${replace}>Replace in all</></div>
    ${known.map((one) => html`<label class="field" key=${one.id}><span class="hint">${one.file_name || one.source_uri}</span><input value=${titles.get(one.id) ?? one.title} maxlength="500" required autocomplete="off" aria-label=${`Title of ${one.title}`}
      onInput=${(event) => setTitles(new Map(titles).set(one.id, event.target.value))} /></label>`)}
    ${report}
    <div class="form-end"><${Button} onClick=${rest.onDone}>Cancel</><button class="button main" disabled=${busy}><span>${changed.size ? `Rename ${documents(changed.size)}` : "Save"}</span></button></div>
  </form>`;
}
