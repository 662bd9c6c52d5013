// How much of the prompt's room for history the earlier turns of the conversation take.
//
//   <${MemoryMeter} list=${turns} />      nothing before the second question
import { html } from "../html.js";

export function MemoryMeter({ list }) {
  const memory = list.findLast((turn) => turn.memory)?.memory;
  if (!memory || !memory.turns) return null;
  const { used, budget, turns, turns_in_full: full, summarised } = memory;
  const share = budget ? Math.min(1, used / budget) : 0;
  const percent = share > 0 && share < 0.01 ? "under 1" : Math.round(100 * share);
  const earlier = `${full} of ${turns} earlier ${turns === 1 ? "question" : "questions"} in full${full < turns && summarised ? ", the others in a summary" : ""}`;
  const text = `The last question was read with ${earlier}: ${used.toLocaleString("en")} of ${budget.toLocaleString("en")} characters.`;
  return html`<span class="memory" title=${text}><span aria-hidden="true">Memory</span>
    <meter min="0" max="1" high="0.85" value=${share} aria-label="Memory of the conversation">${percent} %</meter><span>${percent} %</span><span class="unseen">${text}</span></span>`;
}
