// How a question is answered: by one search, or by an agent that may look several things up.
//
//   <${Mode} />      nothing where the server has one mode only
import { html } from "../html.js";
import { useAbout } from "../shell/about.js";
import { chooseMode, session, useStore } from "../store.js";

const MODES = {
  answer: ["Answer", "One search of the documents, then the answer"],
  agent: ["Agent", "Looks up what it needs, step by step: it may search, read, list, compare and calculate"],
};

export function Mode() {
  const { mode: usual } = useAbout();
  const { mode } = useStore(session);
  if (!usual) return null;
  return html`<div class="switch" role="group" aria-label="How to answer">${Object.entries(MODES).map(([name, [label, title]]) => html`<button type="button" key=${name} title=${title}
    aria-pressed=${String(name === (mode || usual))} onClick=${() => chooseMode(name)}>${label}</button>`)}</div>`;
}
