// #/sources: where documents come from and stay in step with; #/sources/{id}: one of them.
import { call } from "../api.js";
import { Button, Notice, Spinner } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useEffect, useState } from "../html.js";
import { address } from "../router.js";
import { AddSource } from "../sources/add.js";
import { One } from "../sources/one.js";
import { counted, stateOf, timesOf } from "../sources/words.js";

const LOOK = 2000; // ms, while one is being synced

export default function Sources({ route }) {
  const [id] = route.rest;
  return html`<div class="page sources">${id ? html`<${One} key=${id} id=${id} />` : html`<${List} />`}</div>`;
}

function List() {
  const { data, error, reload } = useData((signal) => call("GET /v1/sources", { signal }), []);
  const [adding, setAdding] = useState(false);
  const busy = data?.sources.some((one) => one.run_id);
  useEffect(() => {
    const timer = busy ? setInterval(reload, LOOK) : 0;
    return () => clearInterval(timer);
  }, [busy]);
  const added = () => { setAdding(false); reload(); };
  return html`<div class="sources-head"><h1>Sources</h1>${data && html`<${Button} kind="main" icon="plus" onClick=${() => setAdding(true)}>Add a source</>`}</div>
    <p class="lead">Folders, sites, mailboxes and more that documents come from and stay in step with.</p>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Spinner} label="Loading" />`}
    ${data?.sources.length === 0 && html`<${Notice} title="There is no source yet."><p>Add one, and its files become documents; what changes or goes there changes or goes here.</p></>`}
    <ul class="source-list">${data?.sources.map((one) => html`<li key=${one.id}><${Row} one=${one} kinds=${data.kinds} /></li>`)}</ul>
    ${data && html`<${AddSource} open=${adding} kinds=${data.kinds} onClose=${() => setAdding(false)} onAdded=${added} />`}`;
}

function Row({ one, kinds }) {
  const state = stateOf(one);
  const kind = kinds.find(({ name }) => name === one.kind)?.title ?? one.kind;
  return html`<h2><a href=${address("sources", [one.id])}>${one.name}</a> <span class=${`state ${state.kind}`}>${state.word}</span></h2>
    <p class="hint source-address">${kind} · ${one.address}</p>
    ${state.text && html`<p class=${state.kind === "failed" ? "reason" : ""}>${state.text}</p>`}
    <p class="hint">${[counted(one.documents, "document"), ...timesOf(one)].join(" · ")}</p>`;
}
