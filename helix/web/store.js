// State that several components share.
//
//   const store = createStore({ count: 0 });
//   store.get().count;  store.set({ count: 1 });      // a shallow patch
//   const count = useStore(store, (state) => state.count);   // in a component
//   onOtherAsker(() => …);                            // when another tenant or key asks
//
// `session` is who asks: { tenant, key, space, kept, keyWanted }; `space` is the id of the one that the page is about, null for
// everything that may be read; `kept`: the key stays on this device. The key is in sessionStorage, which open
// tabs tell each other (shell/shared-key.js), or in localStorage; it goes into the Authorization header alone.
import { useLayoutEffect, useState } from "./html.js";

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
  useLayoutEffect(() => {
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

// The conversation that is open, which the navigation leads back to from other views.
export const openNow = createStore({ id: null });

export const session = createStore({
  tenant: recall("tenant") || "",
  key: recall("key") || recall("key", "localStorage") || "",
  space: wholeOf(recall("space", "localStorage")),
  kept: isKeyOnDevice(),
  keyWanted: "", // why a key is asked for; empty: it is not
  judge: recall("judge") === "1",
  mode: recall("mode") || "", // answer or agent; empty: what the server does
});

// What was kept in the page for one tenant, key or space is not another's.
export function onOtherAsker(forget) {
  const who = ({ tenant, key, space }) => `${tenant} ${key} ${space}`;
  let asking = who(session.get());
  session.subscribe((state) => {
    if (who(state) === asking) return;
    asking = who(state);
    forget();
  });
}

export function signIn(key, onDevice = false) {
  remember("key", onDevice ? "" : key);
  remember("key", onDevice ? key : "", "localStorage");
  session.set({ key, kept: isKeyOnDevice(), keyWanted: "" });
}

function isKeyOnDevice() {
  return Boolean(recall("key", "localStorage"));
}

export function chooseTenant(tenant) {
  remember("tenant", tenant);
  session.set({ tenant });
}

function wholeOf(text) {
  return /^\d{1,15}$/.test(text ?? "") ? Number(text) : null;
}

export function chooseSpace(space) {
  remember("space", space === null ? null : String(space), "localStorage");
  session.set({ space });
}

export function chooseMode(mode) {
  remember("mode", mode);
  session.set({ mode });
}

export function chooseJudge(judge) {
  remember("judge", judge ? "1" : "");
  session.set({ judge });
}
