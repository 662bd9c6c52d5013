// Who asks, and what the server can do: { tenant, auth, version, images, mode, voice }, all null until it told.
// Asked anew for another tenant or key.
//
//   const { images } = useAbout();     images: whether the model can look at one; voice: whether speech can be written down
import { call } from "../api.js";
import { createStore, session, useStore } from "../store.js";

const UNKNOWN = { tenant: null, auth: null, version: null, images: null, mode: null, voice: null };

export const about = createStore(UNKNOWN);

export const useAbout = () => useStore(about);

export async function learn() {
  try {
    about.set(await call("GET /v1/about"));
  } catch {
    about.set(UNKNOWN); // the view says what is wrong; this is only asked again
  }
}

let asking = null;
function again({ tenant, key }) {
  const who = JSON.stringify([tenant, key]);
  if (who === asking) return;
  asking = who;
  learn();
}
session.subscribe(again);
again(session.get());
