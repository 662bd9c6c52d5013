// The server's API. An endpoint is "METHOD /path/{name}" of endpoints.js, which has what may be
// sent to it; anything else is an error of the page and thrown here.
//
//   await call("GET /v1/documents/{document_id}", { path: { document_id: 7 }, query: { text: false } })
//       -> the JSON; throws ApiError(status, message). Status 0: the server was not reached.
//       `onSent` gets how much of a form is sent, 0 to 1
//   for await (const { event, data, id } of stream("GET /v1/runs/{run_id}/events", { path, signal })) …
//       -> typed server-sent events; it ends where the stream ends: whether that was the end
//          that was announced is for the caller to know.
//
// Tenant and API key of store.js go with each request, and the space with those that are about one; a 401 asks for a key (`session.keyWanted`).
import { ENDPOINTS } from "./endpoints.js";
import { session, signIn } from "./store.js";
import { BROKEN, UNREACHED, explained } from "./shell/failures.js";
import { keyOfAnotherTab } from "./shell/shared-key.js";
import { events } from "./sse.js";

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Whether the server was not there at all, so that nothing of the request is known to have come.
export const isAway = (error) => error instanceof ApiError && error.message === UNREACHED;

export const api = {
  documents: (query, signal) => call("GET /v1/documents", { query, signal }),
  document: (document_id, query, signal) =>
    call("GET /v1/documents/{document_id}", { path: { document_id }, query, signal }),
  suggestions: (query, signal) => call("GET /v1/suggestions", { query, signal }),
  chunk: (chunk_id, signal) => call("GET /v1/chunks/{chunk_id}", { path: { chunk_id }, signal }),
  conversations: (query, signal) => call("GET /v1/conversations", { query, signal }),
  begin: (body) => call("POST /v1/conversations", { body }),
  conversation: (id, query, signal) =>
    call("GET /v1/conversations/{conversation_id}", { path: { conversation_id: id }, query, signal }),
  change: (id, body) =>
    call("PATCH /v1/conversations/{conversation_id}", { path: { conversation_id: id }, body }),
  remove: (id, keepalive = false) =>
    call("DELETE /v1/conversations/{conversation_id}", { path: { conversation_id: id }, keepalive }),
  export: (id, format, message) =>
    send("GET /v1/conversations/{conversation_id}/export", { path: { conversation_id: id }, query: { format, message } }),
  askIn: (id, body, signal) =>
    stream("POST /v1/conversations/{conversation_id}/messages", { path: { conversation_id: id }, body, signal }),
  edit: (id, message, body, signal) =>
    stream("POST /v1/conversations/{conversation_id}/messages/{message_id}/edit", { path: pathOf(id, message), body, signal }),
  regenerate: (id, message, body, signal) =>
    stream("POST /v1/conversations/{conversation_id}/messages/{message_id}/regenerate", { path: pathOf(id, message), body, signal }),
  events: (id, message, after, signal) =>
    stream("GET /v1/conversations/{conversation_id}/messages/{message_id}/events", {
      path: pathOf(id, message), headers: after ? { "Last-Event-ID": String(after) } : {}, signal,
    }),
  stop: (id, message) =>
    call("POST /v1/conversations/{conversation_id}/messages/{message_id}/stop", { path: pathOf(id, message) }),
  receipt: (answer_id, signal) =>
    call("GET /v1/answers/{answer_id}", { path: { answer_id }, signal }),
  verify: (answer_id, signal) =>
    call("GET /v1/answers/{answer_id}/verify", { path: { answer_id }, signal }),
  proof: (answer_id) => send("GET /v1/answers/{answer_id}/proof", { path: { answer_id } }),
  feedback: (answer_id, body) =>
    call("POST /v1/answers/{answer_id}/feedback", { path: { answer_id }, body }),
};

const pathOf = (conversation_id, message_id) => ({ conversation_id, message_id });

export async function call(endpoint, options = {}) {
  const response = await send(endpoint, options);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, BROKEN);
  }
}

export async function* stream(endpoint, options = {}) {
  const response = await send(endpoint, options, "text/event-stream");
  for await (const { event, data, id } of events(response.body)) {
    yield { event, data: JSON.parse(data), id };
  }
}

export async function send(endpoint, options = {}, accept = "application/json") {
  const { path, query, body, form, signal, keepalive, onSent } = options;
  check(endpoint, { query, body, form });
  const [method] = endpoint.split(" ");
  const { key } = session.get();
  const headers = { Accept: accept, ...options.headers };
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const address = addressOf(endpoint, { path, query });
  let response;
  try {
    response = onSent ? await posted(address, { headers, form, signal, onSent }) : await fetch(address, {
      method, headers, signal, keepalive, credentials: "same-origin",
      body: body !== undefined ? JSON.stringify(body) : form,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, UNREACHED);
  }
  if (response.ok) return response;
  if (response.status === 401 && (await hasOtherKey(key))) {
    return send(endpoint, options, accept);
  }
  throw await failure(response, key);
}

// As fetch, which does not tell how much was sent.
function posted(address, { headers, form, signal, onSent }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent(loaded / total);
    request.onload = () => resolve(new Response(request.response, {
      status: request.status, headers: [...request.getAllResponseHeaders().matchAll(/^(.+?): (.*?)\r?$/gm)].map(([, ...pair]) => pair),
    }));
    request.onerror = reject;
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

// Whether there is a key that the request did not have: one that was entered while it was under way,
// or one that another tab has.
async function hasOtherKey(sent) {
  if (!sent && !session.get().key) {
    const found = await keyOfAnotherTab();
    if (found && !session.get().key) signIn(found);
  }
  const { key } = session.get();
  return Boolean(key) && key !== sent;
}

// The address of an endpoint for a link, which can carry the tenant but no key.
export function addressOf(endpoint, { path, query }) {
  check(endpoint, { query });
  const { tenant, key, space } = session.get();
  const within = ENDPOINTS[endpoint].query?.includes("space") ? { space } : {};
  return fill(endpoint.split(" ")[1], path) + search({ ...within, ...query, tenant_id: key ? undefined : tenant });
}

function check(endpoint, { query, body, form }) {
  const known = ENDPOINTS[endpoint];
  if (!known) throw new TypeError(`${endpoint} is not in endpoints.js`);
  const sent = body ? Object.keys(body) : [...new Set(form?.keys() ?? [])];
  const strange = [
    ...Object.keys(query ?? {}).filter((name) => !known.query?.includes(name)),
    ...sent.filter((name) => !known.body?.includes(name)),
  ];
  if (strange.length) throw new TypeError(`${endpoint} takes no ${strange.join(", ")}`);
}

const NOT_OURS = new Set([502, 503, 504]); // a proxy's, for a server that is away

async function failure(response, sent) {
  let message = "";
  try {
    message = String((await response.json()).error ?? "");
  } catch {
    // no JSON: something in between answered
    if (NOT_OURS.has(response.status)) return new ApiError(0, UNREACHED);
  }
  const { key } = session.get();
  const page = /Helix-Sign-In page="([^"]+)"/.exec(response.headers.get("WWW-Authenticate") ?? "");
  if (response.status === 401 && page && !key) {
    location.assign(`${page[1]}?next=${encodeURIComponent(location.pathname + location.hash)}`);
  } else if (response.status === 401 && key === sent) {
    session.set({ keyWanted: key ? "This key is not valid on this server, or was revoked." : "asked" });
  }
  const after = Number(response.headers.get("Retry-After")) || 0;
  return new ApiError(response.status, explained(response.status, message, after));
}

function fill(pattern, path = {}) {
  return pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name]));
}

function search(query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, one);
  }
  const text = parameters.toString();
  return text && `?${text}`;
}
