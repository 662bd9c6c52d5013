// What the reader knows of a document: its text with outline and tables, its printed pages, the
// boxes of a passage, the original. The last few documents are kept.
//
//   const document = await load(7)     -> { id, title, text, media, outline, chunks, tables, … }
//   await pagesOf(7)                   -> [{ number, label, width, height, start, end }]
//   await boxesOf(7, 10, 48)           -> [{ page, left, top, right, bottom }], in points
//   await pictureOf(7, 12, 2, signal)  -> a Blob: page 12, two pixels to the point
//   forget(7)
//
// The server counts places in code points. Those of `load` come as UTF-16 units, with what was
// asked for and what is linked to as the server has it: see `places`.
import { api, call, send } from "../api.js";
import { spaces } from "../shell/spaces.js";
import { openNow } from "../store.js";
import { unitsOf } from "../text.js";

const KEPT = 6;
const kept = new Map(); // document id -> { loading, pages }

function entry(id) {
  if (!kept.has(id)) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(id, {});
  }
  return kept.get(id);
}

function once(id, name, begin) {
  const mine = entry(id);
  if (!mine[name]) {
    mine[name] = begin();
    mine[name].catch(() => { delete mine[name]; });
  }
  return mine[name];
}

export const forget = (id) => kept.delete(id);
spaces.subscribe(() => kept.clear()); // another may read them now

export const load = (id) => once(id, "loading", async () => {
  const document = await found(id);
  const tables = await tablesOf(id);
  return places({ ...document, text: document.text || "" }, tables);
});

const OF_LIBRARY = {
  pages: "GET /v1/documents/{document_id}/pages",
  picture: "GET /v1/documents/{document_id}/pages/{number}.png",
  tables: "GET /v1/documents/{document_id}/tables",
  boxes: "GET /v1/documents/{document_id}/boxes",
};
const OF_CONVERSATION = {
  whole: "GET /v1/conversations/{conversation_id}/attachments/{document_id}",
  pages: "GET /v1/conversations/{conversation_id}/attachments/{document_id}/pages",
  picture: "GET /v1/conversations/{conversation_id}/attachments/{document_id}/pages/{number}.png",
  tables: "GET /v1/conversations/{conversation_id}/attachments/{document_id}/tables",
  boxes: "GET /v1/conversations/{conversation_id}/attachments/{document_id}/boxes",
};
const attachedTo = new Map(); // document id -> the conversation that it is of alone

// The endpoint of a part of a document, and what stands in its path.
function where(document_id, part) {
  const conversation_id = attachedTo.get(document_id);
  if (conversation_id === undefined) return [OF_LIBRARY[part], { document_id }];
  return [OF_CONVERSATION[part], { conversation_id, document_id }];
}

// One that the library does not have may be of the conversation that is open alone.
async function found(id) {
  attachedTo.delete(id);
  try {
    return await api.document(id);
  } catch (error) {
    const conversation_id = openNow.get().id;
    if (error.status !== 404 || !conversation_id) throw error;
    attachedTo.set(id, conversation_id);
    const [endpoint, path] = where(id, "whole");
    return { ...(await call(endpoint, { path })), facts: null, isAttached: true };
  }
}

// Every place in the text that the reader uses, from code points to UTF-16 units in one pass.
function places(document, tables) {
  const { text, outline, chunks } = document;
  const spans = [...(outline || []), ...chunks.filter((chunk) => chunk.start !== null), ...tables];
  const cells = tables.flatMap((table) => table.cells);
  const wanted = [...spans.flatMap(({ start, end }) => [start, end]), ...cells.flatMap(([, , start, end]) => [start, end])];
  const ascending = [...new Set(wanted)].sort((a, b) => a - b);
  const units = unitsOf(text, ascending);
  const at = new Map(ascending.map((place, n) => [place, units[n]]));
  const moved = (one) => ({ ...one, start: at.get(one.start), end: at.get(one.end) });
  return {
    ...document,
    outline: (outline || []).map(moved),
    chunks: chunks.map((chunk) => (chunk.start === null ? chunk : { ...moved(chunk), from: chunk.start, to: chunk.end })),
    tables: tables.map((table) => withLines(text, {
      ...moved(table),
      cells: table.cells.map(([row, column, start, end]) => ({ row, column, start: at.get(start), end: at.get(end) })),
    })),
  };
}

// Where the line of each row is, which begins with its headers: it lies around the row's cells.
function withLines(text, table) {
  const lines = table.rows.map(() => null);
  for (const { row, start, end } of table.cells) {
    const found = lines[row] || { start: text.lastIndexOf("\n", start - 1) + 1, end };
    const newline = text.indexOf("\n", end);
    lines[row] = { start: Math.max(found.start, table.start), end: newline < 0 ? table.end : Math.min(newline, table.end) };
  }
  // a row without cells has no line that could be found
  lines.forEach((line, n) => { lines[n] = line || { start: lines[n - 1]?.end ?? table.start, end: lines[n - 1]?.end ?? table.start }; });
  return { ...table, lines };
}

async function tablesOf(document_id) {
  try {
    const [endpoint, path] = where(document_id, "tables");
    return (await call(endpoint, { path })).tables;
  } catch {
    return []; // its lines are read as lines then
  }
}

export const pagesOf = (document_id) => once(document_id, "pages", async () => {
  const [endpoint, path] = where(document_id, "pages");
  return (await call(endpoint, { path })).pages;
});

export async function boxesOf(document_id, start, end, signal) {
  const [endpoint, path] = where(document_id, "boxes");
  return (await call(endpoint, { path, query: { start, end }, signal })).boxes;
}

export async function pictureOf(document_id, number, scale, signal) {
  const [endpoint, path] = where(document_id, "picture");
  return (await send(endpoint, { path: { ...path, number }, query: { scale }, signal }, "image/png")).blob();
}

export async function fileOf(document_id) {
  return (await send("GET /v1/documents/{document_id}/file", { path: { document_id } }, "*/*")).blob();
}
