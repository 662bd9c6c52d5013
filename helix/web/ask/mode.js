// How a question is answered: by one search, by an agent that may look several things up, or with
// code and drafts, where there is a model to write them.
//
//   <${Mode} />      nothing where the server has one mode only
import { html } from "../html.js";
import { useAbout } from "../shell/about.js";
import { chooseMode, session, useStore } from "../store.js";

const MODES = {
  answer: ["Answer", "One search of the documents, then the answer"],
  agent: ["Agent", "Looks up what it needs, step by step: it may search, read, list, compare and calculate"],
  write: ["Write", "Writes code or a draft from the documents; names that they do not have are marked"],
};

export function Mode() {
  const { mode: usual, models } = useAbout();
  const { mode } = useStore(session);
  if (!usual) return null;
  const writes = models?.some((one) => !one.quotes_only);
  const offered = Object.entries(MODES).filter(([name]) => name !== "write" || writes);
  return html`<div class="switch" role="group" aria-label="How to answer">${offered.map(([name, [label, title]]) => html`<button type="button" key=${name} title=${title}
    aria-pressed=${name === (mode || usual)} onClick=${() => chooseMode(name)}>${label}</button>`)}</div>`;
}
