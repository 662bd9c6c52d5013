// The library as it is now, in every tab: what somebody else changes shows here without a reload.
// The server tells of changes by a stream, which is open while a view wants it and the page is seen;
// what a tab does itself it tells the others at once.
//
//   useLive();                                   in a view that shows the library
//   changedHere();                               this tab has changed something: it and the others look
import { useEffect } from "../html.js";
import { learnSpaces } from "../shell/spaces.js";
import { onOtherAsker, session } from "../store.js";
import { follow, touched } from "./follow.js";
import { library } from "./library-api.js";
import { untilHidden, whenSeen } from "./seen.js";

const SOON = 300; // ms, after one that the server ended
const WAITS = [5000, 10000, 30000]; // ms, after a stream that broke off
const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.library") : null;

export function changedHere() {
  touched();
  channel?.postMessage({ tenant: session.get().tenant });
}

let using = 0; // views and parts of the page that want it: one stream serves all
let live = null;

export function useLive(wanted = true) {
  useEffect(() => {
    if (!wanted) return undefined;
    using += 1;
    if (using === 1) begin();
    return () => {
      using -= 1;
      if (!using) end();
    };
  }, [wanted]);
}

function begin() {
  live = { here: true, version: null, again: () => {} };
  listen(live);
}

function end() {
  live.here = false;
  live.again();
  live = null;
}

onOtherAsker(() => {
  if (!live) return;
  end();
  begin();
});
channel?.addEventListener("message", ({ data }) => {
  if (!live || data.tenant !== session.get().tenant) return;
  touched();
  live.again(); // a run that was begun there is told with the first event
});

async function listen(state) {
  for (let tries = 0; state.here; ) {
    await whenSeen();
    if (!state.here) return;
    const { signal, done } = untilHidden();
    let asked = false;
    let [told, ended] = [false, false];
    state.again = () => { asked = true; done(); };
    try {
      for await (const { event, data } of library.events(signal)) {
        if (!state.here) break;
        tries = 0;
        if (event !== "library") continue;
        if (!told && state.version !== null) learnSpaces(); // after the stream has begun: what changes later ends it
        told = true;
        take(state, data);
      }
      ended = true;
    } catch (error) {
      if (error.status === 404) learnSpaces(); // the space is gone, or not to be read any more
      if (error.status >= 400 && error.status < 500 && error.status !== 429) return; // no key, or none of this tenant
    } finally {
      done();
    }
    if (asked || signal.aborted && document.visibilityState === "hidden" || !state.here) continue;
    if (ended) state.version = ""; // by the server: what may be read is another
    await new Promise((resolve) => setTimeout(resolve, ended && !tries ? SOON : WAITS[Math.min(tries, WAITS.length - 1)]));
    tries += 1;
  }
}

function take(state, { version, runs }) {
  if (state.version !== null && state.version !== version) touched();
  state.version = version;
  for (const run of runs) follow(run);
}
