// Conditions on metadata, by which the list is narrowed: one is made of a key, how it is compared and
// a value. In the page's address they stand one a line.
//
//   <${Conditions} where=${query.where} keys=${counts.metadata} onChange=${(where) => …} />
//   whereOf(query.where)                          the parameters of GET /v1/documents
import { Icon } from "../components.js";
import { html, useState } from "../html.js";

const COMPARED = { "=": "is", "!=": "is not", "<": "is less than", "<=": "is at most", ">": "is more than", ">=": "is at least", has: "is there", lacks: "is not there" };
const ALONE = ["has", "lacks"];

export const whereOf = (where) => (where ? where.split("\n") : []);

export function Conditions({ where, keys = [], onChange }) {
  const [made, setMade] = useState({ key: "", how: "=", text: "" });
  const conditions = whereOf(where);
  if (!keys.length && !conditions.length) return null;
  const one = keys.find(({ name }) => name === made.key);
  const add = () => {
    const text = conditionOf(made, one);
    if (!text) return;
    setMade({ key: "", how: "=", text: "" });
    onChange([...new Set([...conditions, text])].join("\n"));
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  };
  return html`<div class="conditions" role="group" aria-label="Filters by metadata">
    <label class="field">Metadata<select aria-label="Metadata" value=${made.key} onChange=${(event) => setMade({ ...made, key: event.target.value })}>
      <option value="">Any</option>${keys.map(({ name, count }) => html`<option key=${name} value=${name}>${name} (${count})</option>`)}</select></label>
    ${one && html`<label class="field">How<select aria-label="How" value=${made.how} onChange=${(event) => setMade({ ...made, how: event.target.value })}>
      ${Object.entries(COMPARED).map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}</select></label>
      ${!ALONE.includes(made.how) && html`<label class="field">Value<input value=${made.text} onInput=${(event) => setMade({ ...made, text: event.target.value })} onKeyDown=${onKeyDown} autocomplete="off" placeholder=${one.kinds.includes("date") ? "2026-01-31" : ""} /></label>`}
      <button type="button" class="button" disabled=${!conditionOf(made, one)} onClick=${add}><span>Filter</span></button>`}
    ${conditions.map((text) => html`<button type="button" class="label condition" key=${text} aria-label=${`Remove the filter ${text}`} onClick=${() => onChange(conditions.filter((each) => each !== text).join("\n"))}><span>${text}</span><${Icon} name="close" /></button>`)}
  </div>`;
}

// "2024" of a key whose values are texts alone is a text.
function conditionOf({ how, text }, one) {
  if (!one) return "";
  if (ALONE.includes(how)) return how === "has" ? one.name : `!${one.name}`;
  const type = one.kinds.join() === "text" ? ":text" : "";
  return text.trim() && `${one.name}${type}${how}${text.trim()}`;
}
