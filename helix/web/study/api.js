// The Study area's requests to the server. A set is one quiz, deck of cards, workshop or map.
import { call, send, stream } from "../api.js";
import { fileName, handOut } from "../file.js";

const at = (set_id, item_id) => ({ path: { set_id, item_id } });

export const study = {
  sets: (query, signal) => call("GET /v1/study", { query, signal }),
  set: (id, signal) => call("GET /v1/study/{set_id}", { ...at(id), signal }),
  make: (body) => call("POST /v1/study", { body }),
  rename: (id, title) => call("PATCH /v1/study/{set_id}", { ...at(id), body: { title } }),
  remove: (id) => call("DELETE /v1/study/{set_id}", at(id)),
  cancel: (run_id) => call("POST /v1/runs/{run_id}/cancel", { path: { run_id } }),
  progress: (run_id, signal) => stream("GET /v1/runs/{run_id}/events", { path: { run_id }, signal }),
  attempt: (id) => call("POST /v1/study/{set_id}/attempts", at(id)),
  attempts: (id, signal) => call("GET /v1/study/{set_id}/attempts", { ...at(id), signal }),
  answer: (attempt_id, item_id, answer) =>
    call("POST /v1/study/attempts/{attempt_id}/answers", { path: { attempt_id }, body: { item_id, answer } }),
  finish: (attempt_id) => call("POST /v1/study/attempts/{attempt_id}/finish", { path: { attempt_id } }),
  due: (signal) => call("GET /v1/study/due", { signal }),
  review: (item_id, rating) => call("POST /v1/study/cards/{item_id}/review", { path: { item_id }, body: { rating } }),
  undo: () => call("POST /v1/study/cards/undo"),
  lesson: (id, item) => call("POST /v1/study/{set_id}/lessons/{item_id}", at(id, item)),
  done: (id, item) => call("POST /v1/study/{set_id}/lessons/{item_id}/done", at(id, item)),
  arrange: (id, body) => call("PATCH /v1/study/{set_id}/positions", { ...at(id), body, keepalive: true }),
  drawn: (id) => call("POST /v1/study/{set_id}/drawn", at(id)),
  bringIn: (form) => call("POST /v1/study/import", { form }),
};

const ENDINGS = { anki: "apkg", markdown: "md" };

export async function save({ id, title }, format) {
  const response = await send("GET /v1/study/{set_id}/export", { ...at(id), query: { format } });
  handOut(await response.blob(), { download: fileName(title, ENDINGS[format] ?? format) });
}
