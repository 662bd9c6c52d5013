// What went wrong with a request, with what to do about it, in one or two sentences.
//
//   explained(503, "the database does not answer", 5)     message: what the server said, or ""
//   UNREACHED, BROKEN                                     where there was no answer at all
export const UNREACHED = "The server does not answer. Check that it is running (helix serve) and that you are online, then try again.";
export const BROKEN = "The connection was lost in the middle of an answer. Try again.";

// cause where the server message none, and what to do
const KNOWN = {
  401: ["This server asks for an API key.", "Enter one to continue."],
  403: ["You have no access to that.", "Ask whoever gave you access."],
  404: ["This was not found on the server.", "It may have been deleted."],
  413: ["This is larger than the server accepts.", "Send less at once, or a smaller file."],
  429: ["Too many requests at once.", "Try again"],
  501: ["This server is not configured for that.", ""],
  502: ["The model behind Helix did not answer.", "Try again in a moment."],
  503: ["The server cannot answer just now.", "Try again"],
  504: ["The answer took too long.", "Try again in a moment."],
};
const TELLS_A_PROGRAM = new Set([401]); // the server's own words are about headers
const ROUTE = /: (?:GET|POST) \/v1\/.*$/; // what a program is to ask next

export function explained(status, message, after) {
  const [cause, remedy] = KNOWN[status] ?? [`The server answered ${status}.`, status >= 500 ? "Try again; the server’s log says more." : ""];
  const said = message && !TELLS_A_PROGRAM.has(status) ? sentence(message) : cause;
  // what the server says how to mend needs nothing of ours
  const mended = message.replace(ROUTE, "").includes(": ") && status < 500 && status !== 429;
  return [said, mended && said !== cause ? "" : timed(remedy, after)].filter(Boolean).join(" ");
}

function timed(remedy, after) {
  if (remedy !== "Try again") return remedy;
  return after > 0 ? `Try again in ${after} ${after === 1 ? "second" : "seconds"}.` : "Try again in a moment.";
}

export function sentence(told) {
  const text = told.replace(ROUTE, "");
  // the name of a file stays as it is
  const line = /^[a-z]+([ ,]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
