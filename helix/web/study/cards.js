// Cards: browsing those of a set, and reviewing the due ones, one at a time. Keys: Space turns a card,
// 1 to 4 rate how well it was known, u undoes the last review.
import { IconButton, Spinner, announce, toast } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { address } from "../router.js";
import { useKeys } from "../shell/keys.js";
import { Failure, useData } from "../data.js";
import { study } from "./api.js";
import { Proof, beginHere } from "./parts.js";

const RATINGS = { again: "Again", hard: "Hard", good: "Good", easy: "Easy" };

export function Cards({ set }) {
  return html`<p><a class="button main" ref=${beginHere} href=${address("study", ["due"])}>Review due cards</a></p>
    <ul class="cards">${set.items.map(({ id, body, sources, stale }) => html`<li key=${id} class="card"><details><summary>${body.front}${stale && html` <span class="hint">the document has changed</span>`}</summary>
      <p>${body.back}</p><${Proof} sources=${sources} /></details></li>`)}</ul>`;
}

export function DueCards() {
  const { data, error, reload, put } = useData((signal) => study.due(signal), []);
  const [seen, setSeen] = useState(0);
  const act = (work) => work.catch((problem) => toast(problem.message));
  const [card, ...others] = data?.cards ?? [];
  const rate = (rating) => act(study.review(card.id, rating).then(() => {
    setSeen(seen + 1);
    if (others.length) put({ ...data, cards: others });
    else reload(); // those that were not known may be due again
  }));
  const undo = () => seen > 0 && act(study.undo().then(() => {
    setSeen(seen - 1);
    reload();
  }));
  useKeys({ u: undo });
  return html`<p class="eyebrow"><a href=${address("study")}>Study</a></p><h1>Cards</h1>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Spinner} label="Loading" />`}
    ${data && html`<p class="hint due-line"><span role="status">${data.cards.length} left</span><${IconButton} icon="retry" label="Undo the last rating (u)" disabled=${!seen} onClick=${undo} /></p>`}
    ${card && html`<${Card} key=${`${card.id} ${seen}`} card=${card} onRate=${rate} />`}
    ${data && !card && html`<p class="refusal-title">${seen > 0 ? "All due cards are reviewed." : "No card is due."}</p>`}`;
}

function Card({ card: { body, sources, intervals }, onRate }) {
  const [turned, setTurned] = useState(false);
  const back = useRef(null);
  const turn = () => {
    setTurned(true);
    announce(body.back);
  };
  useEffect(() => back.current?.querySelector("button:nth-of-type(3)")?.focus({ preventScroll: true }), [turned]);
  const rate = (n) => () => turned && onRate(Object.keys(RATINGS)[n]);
  useKeys({ " ": () => turned || turn(), 1: rate(0), 2: rate(1), 3: rate(2), 4: rate(3) });
  return html`<article class="flashcard"><h2 class="question">${body.front}</h2>
    ${turned ? html`<p class="back">${body.back}</p><${Proof} sources=${sources} />
      <div class="ratings" ref=${back} role="group" aria-label="How well did you know it?">${Object.entries(RATINGS).map(([rating, label], n) => html`<button type="button" class="button" key=${rating} onClick=${rate(n)}>
        <span>${label}</span> <span class="hint">${spanOf(intervals[rating])}</span></button>`)}</div>`
    : html`<button type="button" class="button main" ref=${beginHere} onClick=${turn}>Show answer</button>`}</article>`;
}

const UNITS = [[31_536_000, "y"], [2_592_000, "mo"], [86_400, "d"], [3600, "h"], [60, "min"]];

function spanOf(seconds) {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS.at(-1);
  return `${Math.max(1, Math.round(seconds / size))} ${unit}`;
}
