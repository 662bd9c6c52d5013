// Parts that the views of the Study area share.
//
//   KINDS.quiz                    { name, icon, of, count: [least, usual, most], formats }
//   <${Proof} sources=${[…]} />   the passages that prove an item; each opens beside it
//   ref=${beginHere}             takes the focus where nothing has it
import { openPanel } from "../ask/panel.js";
import { panelOf, passageOf } from "../ask/cited.js";
import { html } from "../html.js";
import { shortened } from "../text.js";

export const KINDS = {
  quiz: { name: "Quiz", icon: "check", of: "questions", count: [5, 10, 50], formats: ["markdown"], about: "Questions with one right answer, each with the sentence that supports it." },
  cards: { name: "Cards", icon: "label", of: "cards", count: [1, 20, 200], formats: ["anki", "csv"], about: "Flashcards, shown again when you are about to forget them." },
  workshop: { name: "Workshop", icon: "outline", of: "lessons", count: [3, 6, 12], formats: ["markdown"], about: "An outline of lessons, each written when it is opened, cited like an answer." },
  map: { name: "Map", icon: "link", of: "nodes", count: [2, 40, 60], formats: ["markdown"], about: "The topics of the documents, as a tree with links to the passages." },
};

export function beginHere(element) {
  const { activeElement: now, body } = document;
  if (element && (now === body || now.id === "main")) element.focus({ preventScroll: true });
}

export function Proof({ sources }) {
  const passages = sources.map(passageOf);
  return passages.length > 0 && html`<ul class="quotes">${passages.map((passage) => html`<li key=${`${passage.chunkId} ${passage.start}`}>
    <button type="button" class="passage" onClick=${(event) => openPanel(panelOf(passage, event.currentTarget, passages))}>
      <span class="passage-text">${shortened(passage.quote || passage.title, 220)}</span>
      <span class="hint">${[passage.title, passage.place].filter(Boolean).join(", ")}</span></button></li>`)}</ul>`;
}
