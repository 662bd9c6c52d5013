// Metadata of one's own: shown on a line, edited key by key, of one document or of many.
//
//   metadataLine(document)                        "owner Lee, Kim · year 2024", without ids and what the row says already
//   <${MetadataFields} value=${document.metadata} />     fields of a form
//   patchOf(new FormData(form), value)            what was changed, a merge patch; throws a told error
//   patched(value, patch)                         the value afterwards
import { Button, IconButton } from "../components.js";
import { dateOf } from "../dates.js";
import { html, useState } from "../html.js";

const TYPES = { "": "As it looks", text: "Text", number: "Number", date: "Date", list: "List" };
const DATE = /^\d{4}-\d{2}-\d{2}/;
const MOMENT = /^\d{4}-\d\d-\d\d(?:T[\d:.+Z-]+)?$/;
const DIGEST = /^[\da-f-]{16,}$/i;
const OF_MAIL = ["in_reply_to", "message_id", "references", "thread"];
const MANY = 4; // of a list, in the line
const NUMBER = /^-?(0|[1-9]\d{0,15})(\.\d+)?$/;

// By name: the order in which keys were typed is not kept, and a line does not change by a reload.
export function metadataLine({ media, metadata, title, facts }) {
  const own = metadata || {};
  const isMail = media === "eml" || "message_id" in own;
  const said = [title, ...Object.values(facts ?? {})];
  return Object.entries(own).filter(([key, value]) => !(isMail && OF_MAIL.includes(key)) && !said.includes(value) && !isDigest(value))
    .sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => `${key} ${listed(value)}`).join(" · ");
}

// An id that a program made: hexadecimal digits, letters among them.
const isDigest = (value) => DIGEST.test(value) && /[a-f]/i.test(value) && /\d/.test(value);

function listed(value) {
  if (!Array.isArray(value)) return MOMENT.test(value) ? dayOf(value) : shown(value);
  const rest = value.length - MANY;
  return rest > 0 ? `${value.slice(0, MANY).map(listed).join(", ")} and ${rest} more` : value.map(listed).join(", ");
}

// A day has no hour, and is the same in every zone.
const dayOf = (value) => dateOf(value, { dateStyle: "medium", ...(value.includes("T") ? {} : { timeZone: "UTC" }) });

export function shown(value, between = ", ") {
  if (Array.isArray(value)) return value.map((one) => shown(one)).join(between);
  return String(value?.text ?? value);
}

function typeOf(value) {
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return "number";
  return typeof value === "string" && DATE.test(value) ? "date" : "text";
}

export function MetadataFields({ value = {}, keys = [] }) {
  const [rows, setRows] = useState(() => Object.entries(value).map(([key, one]) => ({ key, text: shown(one, "; "), type: typeOf(one) })));
  const put = (n, change) => setRows(rows.map((row, at) => (at === n ? { ...row, ...change } : row)));
  return html`<fieldset class="metadata"><legend>Metadata</legend>
    ${rows.map((row, n) => html`<div class="metadata-row" key=${n} hidden=${row.gone}>
      <input name="metadata-key" value=${row.key} onInput=${(event) => put(n, { key: event.target.value })} list="metadata-keys" maxlength="64" autocomplete="off" placeholder="year" aria-label=${`Key ${n + 1}`} data-focus=${row.fresh} />
      <select name="metadata-type" value=${row.type} onChange=${(event) => put(n, { type: event.target.value })} aria-label=${`Type of ${row.key || `key ${n + 1}`}`}>${Object.entries(TYPES).map(([name, label]) => html`<option key=${name} value=${name}>${label}</option>`)}</select>
      <input name="metadata-text" value=${row.gone ? "" : row.text} onInput=${(event) => put(n, { text: event.target.value })} autocomplete="off" placeholder=${row.type === "list" ? "Lee; Kim" : "2026"} aria-label=${`Value of ${row.key || `key ${n + 1}`}`} />
      <${IconButton} icon="close" label=${`Remove ${row.key || `key ${n + 1}`}`} onClick=${() => put(n, { gone: true })} /></div>`)}
    <datalist id="metadata-keys">${keys.map(({ name }) => html`<option key=${name} value=${name} />`)}</datalist>
    <${Button} icon="plus" onClick=${() => setRows([...rows, { key: "", text: "", type: "", fresh: true }])}>Add a key</>
  </fieldset>`;
}

export function patchOf(form, value = {}) {
  const [types, texts] = [form.getAll("metadata-type"), form.getAll("metadata-text")];
  const typed = {};
  form.getAll("metadata-key").forEach((name, n) => {
    const [key, text] = [String(name).trim().toLowerCase(), String(texts[n]).trim()];
    if (!key && text) throw new Error(`“${text}” has no key: type one, or remove it.`);
    if (key && text) typed[key] = [types[n], text];
  });
  const patch = {};
  for (const [key, [type, text]] of Object.entries(typed)) {
    const was = value[key];
    if (was === undefined || shown(was, "; ") !== text || (type && typeOf(was) !== type)) patch[key] = valueOf(key, type, text);
  }
  for (const key of Object.keys(value)) if (!(key in typed)) patch[key] = null;
  return patch;
}

function valueOf(key, type, text) {
  if (type === "text") return { text };
  if (type === "list") return text.split(";").map((one) => one.trim()).filter(Boolean).map((one) => valueOf(key, "", one));
  if (type === "number" && !NUMBER.test(text)) throw new Error(`${key}: “${text}” is no number.`);
  if (type === "date" && !DATE.test(text)) throw new Error(`${key}: “${text}” is no date, such as 2026-01-31.`);
  return NUMBER.test(text) ? Number(text) : text;
}

export function patched(value, patch) {
  return Object.fromEntries(Object.entries({ ...value, ...patch }).filter(([, one]) => one !== null));
}
