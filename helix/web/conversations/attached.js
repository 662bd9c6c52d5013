// The documents attached to the open conversation: its questions search them beside the library. No
// other conversation sees them, and they are deleted with it.
//
//   const { documents, sending, refused } = useAttached(id)      documents: [{ id, title, status, error }]
//   await attach(files, scope)      begins a conversation where none is open
//   await detach(id); await toLibrary(id); putAwayRefused()
import { call } from "../api.js";
import { useEffect } from "../html.js";
import { show } from "../library/intake.js";
import { whenSeen } from "../library/seen.js";
import { address, go } from "../router.js";
import { createStore, useStore } from "../store.js";
import { draftOf, setDraft } from "./drafts.js";
import { onOther } from "./kept.js";
import { begin, newId, refresh, store, thread } from "./thread.js";

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

export async function attach(files, scope) {
  const conversation = opened(scope);
  attached.set({ ...(attached.get().conversation === conversation ? {} : NOTHING), conversation, sending: files.length, refused: "" });
  const form = new FormData();
  for (const file of files) form.append("file", file);
  try {
    await store();
    await call("POST /v1/conversations/{conversation_id}/attachments", { ...pathOf(conversation), form });
  } catch (error) {
    attached.set({ refused: error.message });
  }
  attached.set({ sending: 0 });
  watch(conversation);
}

// The draft moves along into the new conversation.
function opened(scope) {
  const { id } = thread.get();
  if (id) return id;
  const made = newId();
  setDraft(made, draftOf(null));
  setDraft(null, "");
  begin(made, scope);
  go(address("c", [made]), true);
  return made;
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

export const putAwayRefused = () => attached.set({ refused: "" });

onOther(() => attached.set(NOTHING));
