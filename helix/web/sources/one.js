// One source: how it stands, what waits for a yes, what could not be read, and what can be done with it.
import { call } from "../api.js";
import { Button, Dialog, Notice, Spinner, toast } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useEffect, useState } from "../html.js";
import { address, go } from "../router.js";
import { counted, countsOf, stateOf, timesOf } from "./words.js";

const LOOK = 1500; // ms, while it is being synced

export function One({ id }) {
  const path = { source_id: id };
  const { data, error, reload } = useData((signal) => call("GET /v1/sources/{source_id}", { path, signal }), [id]);
  const [problem, setProblem] = useState("");
  const [removing, setRemoving] = useState(false);
  useEffect(() => {
    const timer = data?.run_id ? setInterval(reload, LOOK) : 0;
    return () => clearInterval(timer);
  }, [data?.run_id]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Spinner} label="Loading" />`;
  const act = async (work, said) => {
    setProblem("");
    try {
      await work;
      if (said) toast(said);
      reload();
    } catch (failed) {
      setProblem(failed.message);
    }
  };
  const sync = (body) => act(call("POST /v1/sources/{source_id}/sync", { path, body }));
  const state = stateOf(data);
  const paused = data.state === "paused";
  return html`<p class="eyebrow"><a href=${address("sources")}>Sources</a></p>
    <h1>${data.name} <span class=${`state ${state.kind}`} role="status">${state.word}</span></h1>
    <p class="hint source-address">${data.address}</p>
    ${state.kind === "failed" && html`<${Notice} kind="error" title="The last sync did not go through."><p>${state.text}</p><p>Nothing was removed.</p></>`}
    ${problem && html`<${Notice} kind="error">${problem}</>`}
    <dl class="facts">${factsOf(data).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="source-acts"><${Button} kind="main" icon="retry" disabled=${!!data.run_id} onClick=${() => sync({})}>Sync now</>
      <${Button} disabled=${!!data.run_id} onClick=${() => sync({ dry_run: true })}>Preview</>
      <${Button} onClick=${() => act(call("PATCH /v1/sources/{source_id}", { path, body: { paused: !paused } }), paused ? "Resumed" : "Paused")}>${paused ? "Resume" : "Pause"}</>
      <${Button} kind="danger" icon="bin" disabled=${!!data.run_id} onClick=${() => setRemoving(true)}>Remove</></div>
    ${data.preview && html`<${Preview} preview=${data.preview} />`}
    <${Waiting} one=${data} onYes=${() => sync({ yes: true })} />
    ${data.unread.length > 0 && html`<section aria-labelledby="unread"><h2 id="unread">Not read</h2><ul class="source-keys">${data.unread.map(({ key, reason }) => html`<li key=${key}><span>${key}</span> <span class="reason">${reason}</span></li>`)}</ul></section>`}
    <${Removing} one=${data} open=${removing} path=${path} onClose=${() => setRemoving(false)} />`;
}

function factsOf(one) {
  return [["Documents", one.documents.toLocaleString("en")], ["Synced", timesOf(one).join(", ")], ["Last sync", one.last_run_at ? countsOf(one.counts) : "none yet"]];
}

function Waiting({ one, onYes }) {
  const waiting = one.gone.filter(({ document_id: has }) => has);
  if (!waiting.length) return null;
  return html`<section aria-labelledby="waiting"><h2 id="waiting">Gone at the source</h2>
    <${Notice} kind="warn" title=${`${counted(one.waiting, "document")} would be removed.`}><p>So many at once may be a mistake: check that the source has them no more.</p>
      <${Button} kind="danger" disabled=${!!one.run_id} onClick=${onYes}>Remove ${counted(one.waiting, "document")}</></>
    <${Keys} keys=${waiting.map(({ key }) => key)} total=${one.waiting} /></section>`;
}

const PARTS = { new: "New", changed: "Changed", moved: "Moved", removed: "Would be removed", waiting: "Would wait for a yes" };

function Preview({ preview }) {
  return html`<section aria-labelledby="preview" role="status"><h2 id="preview">What a sync would do</h2><p>${countsOf(preview.counts)}.</p>
    ${preview.error && html`<${Notice} kind="warn">${preview.error}</>`}
    ${Object.entries(PARTS).filter(([name]) => preview[name].length).map(([name, title]) => html`<details key=${name}><summary>${title}: ${preview.counts[name].toLocaleString("en")}</summary><${Keys} keys=${preview[name]} total=${preview.counts[name]} /></details>`)}</section>`;
}

const Keys = ({ keys, total }) => html`<ul class="source-keys">${keys.map((key) => html`<li key=${key}>${key}</li>`)}${total > keys.length && html`<li class="hint">and ${(total - keys.length).toLocaleString("en")} more</li>`}</ul>`;

function Removing({ one, open, path, onClose }) {
  const [error, setError] = useState("");
  const remove = async (keep_documents) => {
    try {
      await call("DELETE /v1/sources/{source_id}", { path, query: { keep_documents } });
      toast("Removed");
      go(address("sources"));
    } catch (failed) {
      setError(failed.message);
    }
  };
  return html`<${Dialog} title=${`Remove ${one.name}`} open=${open} onClose=${onClose}>
    <p>It has ${counted(one.documents, "document")}. They can go with it, or stay in the library, where nothing keeps them in step any more.</p>
    ${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end"><${Button} onClick=${() => remove(true)}>Keep the documents</><${Button} kind="danger" onClick=${() => remove(false)}>Remove all</></div>
  </>`;
}
