// The events of an answer up to its last, continued where a connection breaks.
//
//   for await (const { event, data } of unbroken(begin, again, signal, onAway)) …
//       begin(signal) is the first stream; again(last, signal) one of what comes after event number
//       `last`, or null where there is nothing to come back to. While the server is away it is tried
//       until it is back, by begin where again has nothing; onAway() at each try that fails
//   troubleOf(error, text)      the changes to a turn whose events ended with an error
import { ApiError, isAway } from "../api.js";

const LAST = new Set(["done", "error", "stopped", "interrupted"]);
const WAITS = [300, 1000, 2000, 4000, 5000]; // ms before the connection is tried again
const CUT = "The connection was lost before the answer ended. The part that arrived is kept.";

export async function* unbroken(begin, again, signal, onAway) {
  let source = begin(signal);
  let last = 0;
  for (let tries = 0; ; tries += 1) {
    try {
      for await (const frame of source) {
        last = Number(frame.id) || last;
        tries = 0;
        yield frame;
        if (LAST.has(frame.event)) return;
      }
      throw new ApiError(0, CUT);
    } catch (error) {
      const away = isAway(error);
      if (error.status >= 400 || signal.aborted || (tries >= WAITS.length && !away)) throw error;
      source = again(last, signal) ?? (away ? begin(signal) : null);
      if (!source) throw error;
      if (away) onAway();
    }
    await new Promise((resolve) => setTimeout(resolve, WAITS[Math.min(tries, WAITS.length - 1)]));
  }
}

export function troubleOf(error, text) {
  if (error instanceof ApiError && error.status) return { state: "failed", error: error.message };
  const cut = text !== "" || !(error instanceof ApiError); // anything else that ends a stream is the connection
  return cut ? { state: "cut", error: CUT } : { state: "failed", error: error.message };
}
