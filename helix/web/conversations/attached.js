// The documents attached to the open conversation: its questions search them before the library. No
// other conversation sees them, and they are deleted with it.
//
//   const { documents, sending, refused } = useAttached(id)      documents: [{ id, title, status, error }]
//   await attach(files, scope)      begins a conversation where none is open
//   await sendTo(scope, count, work, said)      the same with work(conversation) of one's own; what it
//                                   gives, or null where it failed: said(error) is told then
//   await detach(id); await toLibrary(id); refuse(id, "why")
import { call } from "../api.js";
import { useEffect } from "../html.js";
import { show } from "../library/intake.js";
import { whenSeen } from "../library/seen.js";
import { createStore, onOtherAsker, useStore } from "../store.js";
import { openHere, refresh, store, thread } from "./thread.js";

const NOTHING = { conversation: null, documents: [], sending: 0, refused: "" };
const WAITS = [400, 700, 1000, 2000]; // ms until the reading is looked at again
const ENDED = new Set(["ready", "failed"]);

const attached = createStore(NOTHING);

export function useAttached(conversation) {
  const { isStored } = useStore(thread);
  const state = useStore(attached);
  useEffect(() => {
    if (attached.get().conversation !== conversation) attached.set({ ...NOTHING, conversation });
    if (conversation && isStored) watch(conversation);
  }, [conversation, isStored]);
  return state.conversation === conversation ? state : NOTHING;
}

const pathOf = (conversation_id, document_id) => ({ path: { conversation_id, document_id } });

let watching = 0;

// Until each document is ready or failed.
async function watch(conversation) {
  const mine = ++watching;
  const isCurrent = () => mine === watching && attached.get().conversation === conversation;
  for (let tries = 0; isCurrent(); tries += 1) {
    await whenSeen();
    try {
      const { documents } = await call("GET /v1/conversations/{conversation_id}/attachments", pathOf(conversation));
      if (!isCurrent()) return;
      attached.set({ documents });
      if (documents.every(({ status }) => ENDED.has(status))) return;
    } catch (error) {
      if (error.status) return;
    }
    await new Promise((resolve) => setTimeout(resolve, WAITS[Math.min(tries, WAITS.length - 1)]));
  }
}

// What is told of this conversation from now on.
function tell(conversation, patch) {
  attached.set({ ...(attached.get().conversation === conversation ? {} : NOTHING), conversation, ...patch });
}

export const refuse = (conversation, refused) => tell(conversation, { refused });

export async function sendTo(scope, count, work, said) {
  const conversation = openHere(scope);
  const then = (patch) => attached.get().conversation === conversation && attached.set(patch);
  tell(conversation, { sending: count, refused: "" });
  try {
    await store();
    return await work(conversation);
  } catch (error) {
    then({ refused: said(error) });
    return null;
  } finally {
    then({ sending: 0 });
  }
}

export async function attach(files, scope) {
  const form = new FormData();
  for (const file of files) form.append("file", file);
  await sendTo(scope, files.length, async (conversation) => {
    await call("POST /v1/conversations/{conversation_id}/attachments", { ...pathOf(conversation), form });
    watch(conversation);
  }, ({ message }) => message);
}

export async function detach(document) {
  const { conversation } = attached.get();
  await call("DELETE /v1/conversations/{conversation_id}/attachments/{document_id}", pathOf(conversation, document));
  watch(conversation);
  refresh(); // its words are out of the answers
}

export async function toLibrary(document) {
  const { conversation } = attached.get();
  const { run_id: run } = await call("POST /v1/conversations/{conversation_id}/attachments/{document_id}/library", pathOf(conversation, document));
  if (run !== null) show(run);
  watch(conversation);
  refresh();
}

onOtherAsker(() => attached.set(NOTHING));
