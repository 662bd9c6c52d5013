// The library as it is now, in every tab: what somebody else changes shows here without a reload.
// The server tells of changes by a stream, which is open while a view wants it and the page is seen;
// what a tab does itself it tells the others at once.
//
//   useLive();                                   in a view that shows the library
//   changedHere();                               this tab has changed something: it and the others look
import { useEffect } from "../html.js";
import { session, useStore } from "../store.js";
import { follow, touched } from "./follow.js";
import { library } from "./library-api.js";
import { untilHidden, whenSeen } from "./seen.js";

const WAITS = [5000, 10000, 30000]; // ms, after a stream that broke off
const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.library") : null;

export function changedHere() {
  touched();
  channel?.postMessage({ tenant: session.get().tenant });
}

export function useLive() {
  const { tenant, key } = useStore(session);
  useEffect(() => {
    const state = { here: true, version: null, again: () => {} };
    listen(state);
    const take = ({ data }) => {
      if (data.tenant !== session.get().tenant) return;
      touched();
      state.again(); // a run that was begun there is told with the first event
    };
    channel?.addEventListener("message", take);
    return () => {
      state.here = false;
      state.again();
      channel?.removeEventListener("message", take);
    };
  }, [tenant, key]);
}

async function listen(state) {
  for (let tries = 0; state.here; ) {
    await whenSeen();
    if (!state.here) return;
    const { signal, done } = untilHidden();
    let asked = false;
    state.again = () => { asked = true; done(); };
    try {
      for await (const { event, data } of library.events(signal)) {
        if (!state.here) break;
        tries = 0;
        if (event === "library") take(state, data);
      }
    } catch (error) {
      if (error.status >= 400 && error.status < 500) return; // no key, or none of this tenant
    } finally {
      done();
    }
    if (asked || signal.aborted && document.visibilityState === "hidden") continue;
    await new Promise((resolve) => setTimeout(resolve, WAITS[Math.min(tries, WAITS.length - 1)]));
    tries += 1;
  }
}

function take(state, { version, runs }) {
  if (state.version !== null && state.version !== version) touched();
  state.version = version;
  for (const run of runs) follow(run);
}
