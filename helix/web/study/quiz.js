// A quiz: one question at a time; after each answer the right one is shown with its passage. An unfinished
// attempt is continued. Keys: 1 to 9 choose an option, Enter answers and goes on.
import { momentOf } from "../dates.js";
import { Icon, announce, toast } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { useKeys } from "../shell/keys.js";
import { useData } from "../data.js";
import { study } from "./api.js";
import { Proof, beginHere } from "./parts.js";

export function Quiz({ set }) {
  const [attempt, setAttempt] = useState(null);
  const [result, setResult] = useState(null);
  const { data, reload } = useData((signal) => study.attempts(set.id, signal), [set.id]);
  const open = data?.attempts.find((one) => !one.finished_at);
  const act = (work) => work.catch((error) => toast(error.message));
  const start = () => act(study.attempt(set.id).then(setAttempt));
  const finish = () => act(study.finish(attempt.id).then((end) => {
    setResult(end);
    setAttempt(null);
    reload();
  }));
  if (attempt) return html`<${Questions} items=${set.items} attempt=${attempt} onEnd=${finish} />`;
  return html`${result && html`<${Result} set=${set} result=${result} />`}
    <p><button type="button" class="button main" ref=${beginHere} onClick=${start}>${open ? "Continue" : data?.attempts.length ? "Try again" : "Start"}</button></p>
    ${data?.attempts.some((one) => one.finished_at) && html`<h2>Earlier attempts</h2><ul>${data.attempts.filter((one) => one.finished_at).map((one) => html`<li key=${one.id}>${one.right} of ${one.of} right <span class="hint">${momentOf(one.finished_at)}</span></li>`)}</ul>`}`;
}

function Questions({ items, attempt, onEnd }) {
  const [at, setAt] = useState(() => items.findIndex(({ id }) => !(id in attempt.answers)));
  useEffect(() => { if (at < 0) onEnd(); }, []); // all were answered when it was left
  if (at < 0) return null;
  const last = at === items.length - 1;
  return html`<${Question} key=${items[at].id} item=${items[at]} attempt=${attempt} place=${`Question ${at + 1} of ${items.length}`}
    next=${last ? "Show the result" : "Next"} onNext=${() => (last ? onEnd() : setAt(at + 1))} />`;
}

const optionsOf = ({ kind, body }) => (kind === "true_false" ? ["True", "False"] : body.options);
const askedOf = ({ body }) => body.question ?? body.statement;
const valueOf = ({ kind }, n) => (kind === "true_false" ? n === 0 : n);
const placeOfKey = ({ kind }, key) => (kind === "true_false" ? Number(!key) : key);

export function Question({ item, attempt, place, next, onNext }) {
  const [chosen, setChosen] = useState(null);
  const [reply, setReply] = useState(null);
  const form = useRef(null);
  useEffect(() => form.current.querySelector("input").focus({ preventScroll: true }), []);
  const answer = async (event) => {
    event?.preventDefault();
    if (reply) return onNext();
    if (chosen === null) return undefined;
    try {
      const now = await study.answer(attempt.id, item.id, valueOf(item, chosen));
      setReply(now);
      announce(now.right ? "Right." : `Wrong: ${optionsOf(item)[placeOfKey(item, now.key)]}`);
    } catch (error) {
      toast(error.message);
    }
    return undefined;
  };
  const letters = optionsOf(item).map((_, n) => [String(n + 1), () => reply || setChosen(n)]);
  useKeys({ ...Object.fromEntries(letters) });
  return html`<form class="quiz" ref=${form} onSubmit=${answer}><p class="eyebrow">${place}</p>
    <fieldset disabled=${Boolean(reply)}><legend class="question">${askedOf(item)}</legend>
      ${optionsOf(item).map((option, n) => html`<label key=${n} class=${markOf(item, n, chosen, reply)}>
        <input type="radio" name="option" checked=${chosen === n} onChange=${() => setChosen(n)} /><span>${option}</span>
        ${reply && n === placeOfKey(item, reply.key) && html`<${Icon} name="check" />`}</label>`)}</fieldset>
    ${reply && html`<div class="reply"><p><strong>${reply.right ? "Right." : "Wrong."}</strong> ${reply.explanation}</p><${Proof} sources=${reply.sources} /></div>`}
    <button class="button main" ref=${(button) => reply && button?.focus({ preventScroll: true })} disabled=${chosen === null}><span>${reply ? next : "Answer"}</span></button></form>`;
}

function markOf(item, n, chosen, reply) {
  if (!reply) return "option";
  if (n === placeOfKey(item, reply.key)) return "option right";
  return n === chosen ? "option wrong" : "option";
}

function Result({ set, result: { right, of, review } }) {
  const item = (id) => set.items.find((one) => one.id === id);
  const wrong = review.filter((one) => !one.right && item(one.item_id));
  return html`<section class="seal" role="status"><${Icon} name="check" /><div><p class="seal-title">${right} of ${of} right</p></div></section>
    ${wrong.length > 0 && html`<h2>Questions to review</h2><ul class="review">${wrong.map((one) => html`<li key=${one.item_id}><p class="review-question">${askedOf(item(one.item_id))}</p>
      <p>${optionsOf(item(one.item_id))[placeOfKey(item(one.item_id), one.key)]}<span class="hint"> ${one.explanation}</span></p><${Proof} sources=${one.sources} /></li>`)}</ul>`}`;
}
