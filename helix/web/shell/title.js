// What the browser's tab is called. A view says it while it is shown; without one it is the view's
// label, and of Ask the name alone.
//
//   useTitle("Question: how long …")      -> "Question: how long … · Helix"
import { useEffect } from "../html.js";
import { shortened } from "../text.js";

const NAME = "Helix";
const LONGEST = 60;

export function useTitle(text) {
  useEffect(() => {
    document.title = text ? `${shortened(text, LONGEST)} · ${NAME}` : NAME;
  }, [text]);
}
