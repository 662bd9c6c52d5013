// Passages that fit some words, by the search that answers use.
//
//   const { near_enough, results } = await findPassages("notice period", { tag: "staff" }, signal)
//   <${Marked} text=${snippet} marks=${[[3, 9]]} />      a text with what was hit standing out
//   leadTo(result)                                       where the reader shows it
import { call } from "../api.js";
import { html } from "../html.js";
import { address } from "../router.js";
import { unitsOf } from "../text.js";

export const findPassages = (q, narrowed, signal) => call("GET /v1/search", { query: { q, ...narrowed }, signal });

export function Marked({ text, marks }) {
  const places = unitsOf(text, marks.flat());
  const pieces = [];
  let done = 0;
  for (let n = 0; n < places.length; n += 2) {
    pieces.push(text.slice(done, places[n]), html`<mark key=${n}>${text.slice(places[n], places[n + 1])}</mark>`);
    done = places[n + 1];
  }
  return html`<span>${pieces}${text.slice(done)}</span>`;
}

export const leadTo = ({ document_id: id, start, end }) => address("source", [id], start === null ? {} : { start, end });
