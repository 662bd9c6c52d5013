// #/privacy: which hosts the server talked to, by its own counter, and what is stored, and where.
import { momentOf } from "../dates.js";
import { call } from "../api.js";
import { Button, Icon, Spinner } from "../components.js";
import { Failure, useData } from "../data.js";
import { html } from "../html.js";
import { bytes } from "../library/row.js";

export default function Privacy() {
  const { data: report, error, reload } = useData((signal) => call("GET /v1/privacy", { signal }), []);
  return html`<div class="page privacy"><h1>What leaves this machine</h1>
    ${!report && !error && html`<${Spinner} label="Loading the counters" />`}
    ${error && html`<${Failure} error=${error} />`}
    ${report && html`<${Report} report=${report} /><p class="page-end"><${Button} icon="retry" onClick=${reload}>Refresh</></p>`}
  </div>`;
}

function Report({ report }) {
  const since = report.since ? momentOf(report.since) : null;
  return html`<div class=${report.outside ? "seal outside" : "seal"} role="status"><${Icon} name=${report.outside ? "warn" : "check"} />
      <div><p class="seal-title">${report.outside ? "Helix has talked to hosts outside this machine." : "Nothing has left this machine."}</p>
      <p class="hint">${since ? `Counted at the socket since ${since}.` : "No connection has been made yet."}</p></div></div>
    <section aria-labelledby="hosts"><h2 id="hosts">Hosts</h2><${Contacts} report=${report} /></section>
    <section aria-labelledby="stored"><h2 id="stored">Stored data</h2><${Stored} report=${report} /></section>
    <section aria-labelledby="models"><h2 id="models">Models that read your documents and questions</h2>
      <dl class="facts">${Object.entries(report.models).map(([role, name]) => html`<div key=${role}><dt>${ROLES[role] || role}</dt><dd>${name || "none"}${name?.startsWith("offline") ? html` <span class="hint">runs here, sends nothing</span>` : ""}</dd></div>`)}</dl></section>
    <p class="hint page-end">How it is counted: ${report.counted_by}.</p>`;
}

const ROLES = { embedder: "Embeddings", llm: "Answers", reranker: "Reranking", judge: "Judging" };

function Contacts({ report }) {
  const { contacts } = report;
  return html`${!contacts.length && html`<p>None.</p>`}
    ${contacts.length > 0 && html`<div class="table-scroll" tabindex="0" role="group" aria-label="Hosts"><table class="table"><thead><tr><th>Host</th><th>Where</th><th>Process</th><th class="number">Connections</th><th>Last contact</th></tr></thead>
      <tbody>${contacts.map((one) => html`<tr key=${`${one.process} ${one.kind} ${one.host} ${one.port}`} class=${one.where === "outside" ? "outside" : ""}>
        <th scope="row">${one.host}${one.port ? `:${one.port}` : ""}${one.kind === "name" ? html` <span class="hint">name looked up</span>` : ""}</th>
        <td>${one.where}</td><td>${one.process}</td><td class="number">${one.count.toLocaleString("en")}</td><td>${momentOf(one.last_at)}</td></tr>`)}</tbody></table></div>`}
    ${report.contacts_not_named > 0 && html`<p class="hint">${report.contacts_not_named} more, from which documents were fetched, are not named: they may be another tenant’s.</p>`}
    ${report.open_now.length > 0 && html`<p class="hint">Open now, according to the operating system: ${report.open_now.map((one) => `${one.host}:${one.port} (${one.where})`).join(", ")}.</p>`}`;
}

function Stored({ report }) {
  const { stored, database } = report;
  const place = database.kind === "embedded" ? "the bundled Postgres, on this machine" : `Postgres${database.host ? ` at ${database.host}` : ""} (${database.where})`;
  const rows = [
    ["Documents", `${stored.documents.toLocaleString("en")}, ${bytes(stored.text_bytes)} of text`],
    ["Passages", stored.chunks.toLocaleString("en")],
    ["Uploaded files", `${stored.files.toLocaleString("en")}, ${bytes(stored.file_bytes)}`],
    ["Answers", report.receipt_days ? `${stored.answers.toLocaleString("en")}, each kept ${report.receipt_days} days` : "not kept"],
    ["Location", place],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
