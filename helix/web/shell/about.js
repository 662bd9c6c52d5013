// Who asks, and what the server can do: { tenant, auth, version, images, mode, voice, study, model, models }, all null
// until it told.
// Asked anew for another tenant, key or space.
//
//   const { images } = useAbout();     images: whether the model can look at one; voice: whether speech can be written down;
//                                      study: whether there are study and progress
import { call } from "../api.js";
import { createStore, session, useStore } from "../store.js";

const UNKNOWN = { tenant: null, auth: null, version: null, images: null, mode: null, voice: null, study: null, model: null, models: null };

export const about = createStore(UNKNOWN);

export const useAbout = () => useStore(about);

// Whether an identity is that of Helix's own rules, which is no model.
export const isOffline = (identity) => identity.startsWith("offline");

// The title of a model by its identity, as a message or a receipt names it; the identity where it is unknown.
export const titleOf = (identity) => about.get().models?.find((one) => one.identity === identity)?.title ?? identity;

export async function learn() {
  try {
    about.set(await call("GET /v1/about"));
  } catch {
    about.set(UNKNOWN); // the view says what is wrong; this is only asked again
  }
}

let asking = null;
function again({ tenant, key, space }) {
  const who = JSON.stringify([tenant, key, space]);
  if (who === asking) return;
  asking = who;
  learn();
}
session.subscribe(again);
again(session.get());
