// A question that begins a conversation, from wherever the page is.
//
//   askAnew(question, { documents: [], tags: [] })
import { address, go } from "../router.js";
import { ask } from "./asking.js";
import { close, thread } from "./thread.js";

export function askAnew(question, scope) {
  close();
  ask(question, scope);
  go(address("c", [thread.get().id]));
}
