// State that several components share.
//
//   const store = createStore({ count: 0 });
//   store.get().count;  store.set({ count: 1 });      // a shallow patch; subscribers run at once
//   const count = useStore(store, (state) => state.count);   // in a component
//
// `session` is who asks: { tenant, key, keyWanted }. The key stays in sessionStorage, of this tab
// alone, and goes nowhere but into the Authorization header of requests to this server.
import { useEffect, useState } from "./html.js";

export function createStore(initial) {
  let state = initial;
  const listeners = new Set();
  return {
    get: () => state,
    set(patch) {
      state = { ...state, ...patch };
      for (const listener of [...listeners]) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore(store, select = (state) => state) {
  const [value, setValue] = useState(() => select(store.get()));
  useEffect(() => {
    const update = () => setValue(() => select(store.get()));
    update(); // it may have changed between drawing and now
    return store.subscribe(update);
  }, [store]);
  return value;
}

// Storage can be closed to a page (a setting, a full disk); the page then only forgets.
export function remember(name, value, storage = "sessionStorage") {
  try {
    if (value === null || value === "") window[storage].removeItem(`helix.${name}`);
    else window[storage].setItem(`helix.${name}`, value);
  } catch {
    // forgotten with the tab
  }
}

export function recall(name, storage = "sessionStorage") {
  try {
    return window[storage].getItem(`helix.${name}`);
  } catch {
    return null;
  }
}

export const session = createStore({
  tenant: recall("tenant") || "",
  key: recall("key") || "",
  keyWanted: "", // why a key is asked for; empty: it is not
  judge: recall("judge") === "1",
});

export function signIn(key) {
  remember("key", key);
  session.set({ key, keyWanted: "" });
}

export function chooseTenant(tenant) {
  remember("tenant", tenant);
  session.set({ tenant });
}

export function chooseJudge(judge) {
  remember("judge", judge ? "1" : "");
  session.set({ judge });
}
