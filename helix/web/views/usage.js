// #/usage: questions, tokens and their cost, one's own or everybody's, and the limits of that.
import { call, send } from "../api.js";
import { Button, Spinner } from "../components.js";
import { html, useState } from "../html.js";
import { Failure, useData } from "../data.js";
import { handOut } from "../file.js";
import { Limits, Own } from "../usage/limits.js";
import { costOf, counted, nameOf, spaceOf } from "../usage/words.js";

const KINDS = { who: "Person or key", key: "Key", space: "Space", model: "Model", day: "Day" };
const CELLS = { who: nameOf, key: (row) => row.key_id && (row.key || `key ${row.key_id}`), space: spaceOf, model: (row) => row.model, day: (row) => row.day };
const dayOf = (date) => date.toISOString().slice(0, 10); // days are those of UTC

export default function Usage() {
  const [asked, setAsked] = useState(() => ({ from: `${dayOf(new Date()).slice(0, 8)}01`, to: dayOf(new Date()), by: ["who", "space", "model"] }));
  const query = { ...asked, by: asked.by.join(",") };
  const report = useData((signal) => call("GET /v1/usage", { query, signal }), [JSON.stringify(query)]);
  const limits = useData((signal) => call("GET /v1/usage/limits", { signal }), []);
  const { data } = report;
  return html`<div class="page usage"><h1>Usage</h1>
    <p class="lead">${data?.everybody ? "Of everybody in this tenant" : "Your own"}, by days in UTC. No question is kept for it${data ? data.days_kept ? `, and counts are kept for ${data.days_kept} days` : ": nothing is counted here" : ""}.</p>
    ${limits.data && html`<${Own} limits=${limits.data.own} />`}
    <${Wanted} asked=${asked} onChange=${setAsked} query=${query} />
    ${report.error && html`<${Failure} error=${report.error} />`}
    ${!data && !report.error && html`<${Spinner} label="Loading" />`}
    ${data && html`<${Table} report=${data} />`}
    ${limits.data?.all && html`<${Limits} told=${limits.data} onSaved=${limits.reload} />`}</div>`;
}

function Wanted({ asked, onChange, query }) {
  const set = (name) => (event) => event.target.value && onChange({ ...asked, [name]: event.target.value });
  const turn = (kind) => (event) => onChange({ ...asked, by: Object.keys(KINDS).filter((one) => (one === kind ? event.target.checked : asked.by.includes(one))) });
  const save = async () => {
    const response = await send("GET /v1/usage", { query: { ...query, format: "csv" } });
    handOut(await response.blob(), { download: `usage-${asked.from}-${asked.to}.csv` });
  };
  return html`<form class="usage-wanted" onSubmit=${(event) => event.preventDefault()}>
    <label class="field">From <input type="date" value=${asked.from} max=${asked.to} onChange=${set("from")} /></label>
    <label class="field">To <input type="date" value=${asked.to} min=${asked.from} onChange=${set("to")} /></label>
    <fieldset><legend>Rows for each</legend>${Object.entries(KINDS).map(([kind, name]) => html`<label key=${kind}>
      <input type="checkbox" checked=${asked.by.includes(kind)} disabled=${asked.by.length === 1 && asked.by[0] === kind} onChange=${turn(kind)} /> ${name}</label> `)}</fieldset>
    <${Button} onClick=${save}>Download CSV</></form>`;
}

function Table({ report: { rows, totals, by } }) {
  if (!rows.length) return html`<p>Nothing was used in these days.</p>`;
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label="Usage"><table class="table">
    <thead><tr>${by.map((kind) => html`<th key=${kind} scope="col">${KINDS[kind]}</th>`)}
      ${["Questions", "Refused", "Votes", "Tokens in", "Tokens out", "Cost"].map((name) => html`<th key=${name} scope="col" class="number">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row, n) => html`<tr key=${n}>${by.map((kind, place) => (place ? html`<td key=${kind}>${CELLS[kind](row)}</td>` : html`<th key=${kind} scope="row">${CELLS[kind](row)}</th>`))}<${Counts} of=${row} /></tr>`)}</tbody>
    <tfoot><tr><th scope="row" colspan=${by.length}>All</th><${Counts} of=${totals} /></tr></tfoot></table></div>
    <p class="hint">${counted(totals.input_tokens)} tokens in, ${counted(totals.cached_tokens)} of them from a cache; ${counted(totals.thought_tokens)} of the tokens out are thoughts.${totals.unpriced > 0 && ` The price of ${counted(totals.unpriced)} of ${counted(totals.calls)} calls is not known: their cost is left out.`}</p>`;
}

function Counts({ of }) {
  return html`<td class="number">${counted(of.questions)}</td><td class="number">${counted(of.refusals)}</td>
    <td class="number">${of.votes_up || of.votes_down ? html`<span aria-label=${`${of.votes_up} up, ${of.votes_down} down`} role="img">+${of.votes_up} −${of.votes_down}</span>` : ""}</td>
    <td class="number">${counted(of.input_tokens)}</td><td class="number">${counted(of.output_tokens + of.thought_tokens)}</td><td class="number">${costOf(of)}</td>`;
}
