// The addresses of the library; see api.js for how they are sent.
import { call, stream } from "../api.js";

export const library = {
  list: (query, signal) => call("GET /v1/documents", { query, signal }),
  upload: (form) => call("POST /v1/documents", { form }),
  fetchUrl: (body) => call("POST /v1/documents/url", { body }),
  remove: (document_id) => call("DELETE /v1/documents/{document_id}", { path: { document_id } }),
  reread: (document_id) =>
    call("POST /v1/documents/{document_id}/reingest", { path: { document_id } }),
  tag: (document_id, tags) => library.change(document_id, { tags }),
  change: (document_id, body) =>
    call("PATCH /v1/documents/{document_id}", { path: { document_id }, body }),
  runs: (query, signal) => call("GET /v1/runs", { query, signal }),
  cancel: (run_id) => call("POST /v1/runs/{run_id}/cancel", { path: { run_id } }),
  follow: (run_id, signal) => stream("GET /v1/runs/{run_id}/events", { path: { run_id }, signal }),
};
