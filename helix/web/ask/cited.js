// What an answer cites, passage by passage. A statement of the answer rests on spans of its sources
// (`support.statements[].spans`), and each marker leads to the span of its own statement.
//
//   passageAt(turn, { n, statement, nth })   what a marker leads to, or null
//   quotesOf(turn, citation)                 all passages of a source that statements rest on, in their order
//   passageOf(citation)                      a citation, or one of the closest, as a passage
//   passageOfName(name, turn)                where the documents have a name of the answer's code
//   panelOf(passage, opener, among)          the panel that shows it, as one of several; null of a tool's result
//   isOfTool(passage)                        whether it is the result of a tool
//
// A passage: { documentId, chunkId, start, end, quote, title, place }. Where no sentence of a source
// bears a statement out, `start`, `end` and `quote` are null, and it is the whole chunk. The result of
// a tool stands in no document: its `documentId` is null, its quote is all of it, and nothing opens.
import { placeOf } from "../text.js";

export function passageOf(cited) {
  return {
    documentId: cited.document_id, chunkId: cited.chunk_id, title: cited.title, place: placeOf(cited, cited.title),
    start: cited.start ?? null, end: cited.end ?? null, quote: cited.quote ?? null,
  };
}

export function passageAt(turn, { n, statement, nth }) {
  const citation = turn.citations.find((one) => one.n === n);
  if (!citation) return null;
  const claim = turn.support?.statements[statement];
  if (!claim) return passageOf(citation); // of an answer that nothing was proven of
  const spans = spansOf(claim, n);
  return spans.length ? passageOfSpan(spans[Math.min(nth, spans.length - 1)], citation) : wholeOf(citation);
}

export function quotesOf(turn, citation) {
  const spans = (turn.support?.statements || []).flatMap((claim) => spansOf(claim, citation.n));
  const found = new Map(spans.map((span) => [`${span.start} ${span.end}`, passageOfSpan(span, citation)]));
  return found.size ? [...found.values()] : [passageOf(citation)];
}

export function passageOfName(name, turn) {
  const cited = turn.citations.find((one) => one.document_id === name.document_id);
  return {
    documentId: name.document_id, chunkId: name.chunk_id, title: cited?.title ?? "", place: "",
    start: name.source_start, end: name.source_end, quote: name.name,
  };
}

export function panelOf(passage, opener, among = [passage]) {
  if (!passage || isOfTool(passage)) return null;
  const openable = among.filter((one) => !isOfTool(one));
  const at = openable.findIndex((one) => isSame(one, passage));
  return { kind: "source", ...passage, among: at < 0 ? [] : openable, at, opener };
}

export const isOfTool = ({ documentId }) => documentId === null;

const isSame = (one, other) => ["documentId", "chunkId", "start", "end"].every((key) => one[key] === other[key]);

const spansOf = (claim, n) => (claim.spans || []).filter((span) => span.n === n);

const wholeOf = (citation) => ({ ...passageOf(citation), start: null, end: null, quote: null });

function passageOfSpan(span, citation) {
  const own = span.chunk_id === citation.chunk_id;
  const label = span.label ?? (own ? citation.label : "");
  const path = own ? citation.heading_path : [];
  return {
    documentId: span.document_id, chunkId: span.chunk_id, title: citation.title,
    place: placeOf({ heading_path: path, page: span.page, label }, citation.title),
    start: span.start, end: span.end, quote: span.quote,
  };
}
