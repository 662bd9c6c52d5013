/** A door for Helix at Cloudflare's edge: what may pass goes through as it is, the rest stops here.
 *
 * It holds no key. Whoever asks shows Helix a key of their own; ORIGIN_SECRET, a binding, only says
 * to whatever stands before the origin that a request came this way. README.md has the settings.
 */

const READ = ["GET", "HEAD"];
const ROUTES = [
  [/^\/$/, READ],
  [/^\/web\/[\w./-]+$/, READ],
  [/^\/ask$/, ["GET"]],
  [/^\/ask-image$/, ["POST"]],
  [/^\/mcp$/, ["POST"]],
  [/^\/v1\/[\w.:@/%-]+$/, ["GET", "HEAD", "POST", "PATCH", "DELETE"]],
];
// what a page of another site may send and read
const SENT = "authorization, content-type, last-event-id, mcp-protocol-version";
const TOLD = "x-answer-id, x-trace-id, x-vercel-ai-ui-message-stream, retry-after";

class Stopped extends Error {
  constructor(status, message, headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export default {
  async fetch(request, env) {
    const site = namedSite(request, env);
    try {
      return readableBy(site, await answer(request, env, site));
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      const told = Response.json({ error: error.message }, error);
      return readableBy(site, told);
    }
  },
};

/** The origin's answer, or that of the edge itself to a browser that asks what it may send. */
async function answer(request, env, site) {
  const url = new URL(request.url);
  const methods = ROUTES.find(([path]) => path.test(url.pathname))?.[1];
  if (!methods || url.pathname.split("/").includes("..")) throw new Stopped(404, "Not Found");
  if (request.method === "OPTIONS" && site) return preflight(methods);
  if (!methods.includes(request.method)) {
    throw new Stopped(405, `${request.method} is not for this address`, { Allow: methods.join() });
  }
  const origin = request.headers.get("Origin");
  if (origin && origin !== url.origin && !site) {
    throw new Stopped(403, "pages of other sites may not ask: SITES of the edge names those that may");
  }
  await withinRate(request, env);
  return passedOn(request, env, url, Boolean(site));
}

/** The site whose page asks, where SITES names it; it may read what it gets. */
function namedSite(request, env) {
  const origin = request.headers.get("Origin");
  return origin && (env.SITES ?? "").split(/[\s,]+/).includes(origin) ? origin : null;
}

function preflight(methods) {
  const headers = {
    "Access-Control-Allow-Methods": methods.join(),
    "Access-Control-Allow-Headers": SENT,
    "Access-Control-Max-Age": "600",
  };
  return new Response(null, { status: 204, headers });
}

function readableBy(site, response) {
  const headers = new Headers(response.headers);
  headers.append("Vary", "Origin");
  if (site) {
    headers.set("Access-Control-Allow-Origin", site);
    headers.set("Access-Control-Expose-Headers", TOLD);
    headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  }
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers, encodeBody: "manual" });
}

async function withinRate(request, env) {
  if (!env.RATE) return;
  const { success } = await env.RATE.limit({ key: addressOf(request) });
  if (!success) throw new Stopped(429, "too many requests from this address", { "Retry-After": "60" });
}

function addressOf(request) {
  return request.headers.get("CF-Connecting-IP") ?? "unknown";
}

/** Ask the origin; its answer's bytes are handed on as they come. A client that leaves closes it. */
async function passedOn(request, env, url, isNamed) {
  const [late, over, gone] = [1, 2, 3].map(() => new AbortController());
  const seconds = Number(env.FIRST_BYTE_SECONDS ?? 60);
  const timer = setTimeout(() => late.abort(), seconds * 1000);
  const body = limited(request, Number(env.MAX_BODY_BYTES ?? 100e6), over, gone);
  const headers = headersFor(request, env, url, isNamed);
  const signal = AbortSignal.any([request, late, over, gone].map((each) => each.signal));
  const { method } = request;
  try {
    const target = new URL(url.pathname + url.search, env.ORIGIN);
    return await fetch(target, { method, headers, body, redirect: "manual", signal });
  } catch (error) {
    if (over.signal.aborted) throw tooLarge();
    if (late.signal.aborted) throw new Stopped(504, `the origin said nothing for ${seconds} seconds`);
    throw new Stopped(502, "the origin does not answer", { "Retry-After": "5" });
  } finally {
    clearTimeout(timer);
  }
}

function headersFor(request, env, url, isNamed) {
  const headers = new Headers(request.headers);
  // Helix compares a page's site with the name it was asked by, which is another one there.
  if (isNamed || headers.get("Origin") === url.origin) headers.delete("Origin");
  if (isNamed) for (const name of ["Site", "Mode", "Dest"]) headers.delete(`Sec-Fetch-${name}`);
  headers.set("X-Forwarded-For", addressOf(request));
  headers.set("X-Forwarded-Proto", url.protocol.slice(0, -1));
  headers.delete("X-Edge-Secret");
  if (env.ORIGIN_SECRET) headers.set("X-Edge-Secret", env.ORIGIN_SECRET);
  return headers;
}

/** The body as it comes, at most ``most`` bytes of it.
 *
 * One that does not say how long it is is counted. Where it is too long, or breaks off, so does the
 * request: an error in its body the runtime would take for its end, and the origin a part for all.
 */
function limited(request, most, over, gone) {
  const length = request.headers.get("Content-Length");
  if (Number(length ?? 0) > most) throw tooLarge();
  if (!request.body || length !== null) return request.body;
  const reader = request.body.getReader();
  let left = most;
  const pull = async (controller) => {
    const read = await reader.read().catch(() => null);
    if (read?.done) return controller.close();
    if (read && (left -= read.value.byteLength) >= 0) return controller.enqueue(read.value);
    (read ? over : gone).abort();
    return new Promise(() => {});
  };
  return new ReadableStream({ pull });
}

const tooLarge = () => new Stopped(413, "the request is larger than MAX_BODY_BYTES of the edge");
