// The requests of the pages for accounts: the cookie says who it is, and no key goes along.
//
//   await request("POST", "/v1/session", { email, password })   the JSON; throws Error(message)
//   nextOf(location)              where to go after signing in: a path of this server, or its page
import { UNREACHED, sentence } from "../shell/failures.js";

export async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error(UNREACHED);
  }
  const told = await response.json().catch(() => ({}));
  if (response.ok) return told;
  const error = new Error(sentence(told.error ?? `the server answered ${response.status}`));
  error.status = response.status;
  throw error;
}

// Another site's address, "//host" and "/\host" among them, is none of ours.
export function nextOf({ origin, search }) {
  const wanted = new URLSearchParams(search).get("next") ?? "/";
  try {
    const address = new URL(wanted, origin);
    const ours = wanted.startsWith("/") && address.origin === origin;
    return ours ? `${address.pathname}${address.search}${address.hash}` : "/";
  } catch {
    return "/";
  }
}
