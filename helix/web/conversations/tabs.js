// Open tabs of the page tell one another which conversation has changed or is gone.
//
//   tellTabs(id);                 this conversation has changed
//   onTold((id) => …)             another tab has changed this conversation
import { session } from "../store.js";
import { whoOf } from "./kept.js";

const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.conversations") : null;

export const tellTabs = (id) => channel?.postMessage({ who: whoOf(session.get()), id });

export function onTold(listener) {
  channel?.addEventListener("message", ({ data }) => data.who === whoOf(session.get()) && listener(data.id));
}
