// A conversation that begins: with a question from wherever the page is, or with a file on the question
// box.
//
//   askAnew(question, { documents: [], tags: [] })
//   openHere(scope)      the id of the open conversation; begins one where none is, with the draft
import { address, go } from "../router.js";
import { ask } from "./asking.js";
import { moveDraft } from "./drafts.js";
import { begin, close, newId, thread } from "./thread.js";

export function askAnew(question, scope) {
  close();
  ask(question, scope);
  go(address("c", [thread.get().id]));
}

export function openHere(scope) {
  const { id } = thread.get();
  if (id) return id;
  const made = newId();
  moveDraft(made);
  begin(made, scope);
  go(address("c", [made]), true);
  return made;
}
