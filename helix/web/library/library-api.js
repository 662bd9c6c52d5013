// The addresses of the library; see api.js for how they are sent.
import { addressOf, call, stream } from "../api.js";

export const library = {
  list: (query, signal) => call("GET /v1/documents", { query, signal }),
  counts: (signal) => call("GET /v1/library", { signal }),
  ids: (query) => call("GET /v1/library/ids", { query }),
  events: (signal) => stream("GET /v1/library/events", { signal }),
  upload: (form, sending) => call("POST /v1/documents", { form, query: { partial: true }, ...sending }),
  samples: () => call("POST /v1/documents/samples"),
  fetchUrl: (body) => call("POST /v1/documents/url", { body }),
  crawl: (body) => call("POST /v1/documents/crawl", { body }),
  batch: (body) => call("POST /v1/documents/batch", { body }),
  describe: (body) => call("POST /v1/documents/metadata", { body }),
  remove: (document_id) => call("DELETE /v1/documents/{document_id}", { path: { document_id } }),
  reread: (document_id) =>
    call("POST /v1/documents/{document_id}/reingest", { path: { document_id } }),
  tag: (document_id, tags) => library.change(document_id, { tags }),
  change: (document_id, body) =>
    call("PATCH /v1/documents/{document_id}", { path: { document_id }, body }),
  cancel: (run_id) => call("POST /v1/runs/{run_id}/cancel", { path: { run_id } }),
  follow: (run_id, signal) => stream("GET /v1/runs/{run_id}/events", { path: { run_id }, signal }),
  original: (document_id) =>
    addressOf("GET /v1/documents/{document_id}/file", { path: { document_id }, query: { inline: true } }),
};
