// One key for the open tabs of this page: a new tab asks the others for it before it asks a person,
// and who signs out or in does so in all of them. Nothing of it leaves the browser.
//
//   await keyOfAnotherTab()      "" where no tab has one
//   signInEverywhere(key, onDevice);  signOutEverywhere()
import { session, signIn } from "../store.js";

const PATIENCE = 250; // ms for another tab to answer

const channel = "BroadcastChannel" in window ? new BroadcastChannel("helix.key") : null;
let asking = null; // the one question that is under way
let take = () => {};

channel?.addEventListener("message", ({ data }) => {
  const { key, kept } = session.get();
  if (data.wanted && key && !kept) channel.postMessage({ key });
  else if (typeof data.key === "string") take(data.key);
  else if (typeof data.now === "string" && data.now !== key) signIn(data.now, data.onDevice);
});

export function keyOfAnotherTab() {
  asking ??= ask().finally(() => { asking = null; });
  return asking;
}

function ask() {
  return new Promise((resolve) => {
    if (!channel) return resolve("");
    take = resolve;
    channel.postMessage({ wanted: true });
    return setTimeout(resolve, PATIENCE, "");
  });
}

export function signInEverywhere(key, onDevice) {
  signIn(key, onDevice);
  channel?.postMessage({ now: key, onDevice });
}

export const signOutEverywhere = () => signInEverywhere("", false);
