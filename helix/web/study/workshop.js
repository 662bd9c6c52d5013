// A workshop: the outline of its lessons. Each lesson is written when it is opened for the first time,
// with an exercise if one is proven.
import { openPanel } from "../ask/panel.js";
import { panelOf, passageOf } from "../ask/cited.js";
import { Button, Icon, Spinner, toast } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Prose } from "../markdown.js";
import { useData } from "../data.js";
import { study } from "./api.js";
import { Proof, beginHere } from "./parts.js";
import { Question } from "./quiz.js";

export function Workshop({ set, onChange }) {
  const { data, reload } = useData((signal) => study.attempts(set.id, signal), [set.id]);
  const done = Object.assign({}, ...(data?.attempts ?? []).map(({ answers }) => answers)); // by the lesson's id
  const [at, setAt] = useState(-1);
  const [written, setWritten] = useState({}); // lesson id -> it as it was written
  const lessons = set.items.filter(({ kind }) => kind === "lesson");
  const lesson = lessons[at];
  const back = (error) => {
    toast(error.message);
    setAt(-1);
  };
  const open = (n) => {
    setAt(n);
    const { id, body } = lessons[n];
    if (body.text || written[id]) return;
    study.lesson(set.id, id).then((now) => {
      setWritten((before) => ({ ...before, [id]: now }));
      onChange(); // the exercise is an item of the set
    }, back);
  };
  const finish = (id) => study.done(set.id, id).then(() => {
    reload();
    if (at + 1 < lessons.length) open(at + 1);
    else setAt(-1);
  }, back);
  if (lesson) {
    const whole = written[lesson.id] ?? lesson;
    return html`<${Lesson} key=${lesson.id} set=${set} lesson=${whole} isWritten=${Boolean(whole.body.text || written[lesson.id])} place=${`Lesson ${at + 1} of ${lessons.length}`}
      onBack=${() => setAt(-1)} onDone=${() => finish(lesson.id)} isLast=${at + 1 === lessons.length} />`;
  }
  return html`<ol class="lessons">${lessons.map(({ id, body, stale }, n) => html`<li key=${id}>
    <button type="button" class="lesson" ref=${n === 0 ? beginHere : null} onClick=${() => open(n)}><strong>${body.title}${id in done && html` <${Icon} name="check" /><span class="unseen">done</span>`}</strong>
      <span class="hint">${body.points.join(" · ")}${stale ? " · the document has changed" : ""}</span></button></li>`)}</ol>`;
}

function Lesson({ set, lesson: { body, sources }, isWritten, place, onBack, onDone, isLast }) {
  const heading = useRef(null);
  const exercise = set.items.find(({ id }) => id === body.exercise);
  useEffect(() => heading.current.focus({ preventScroll: true }), []);
  return html`<article><p class="eyebrow">${place}</p><h2 class="question" ref=${heading} tabindex="-1">${body.title}</h2>
    ${!isWritten ? html`<${Spinner} label="Writing the lesson" />` : body.text ? html`<${Text} body=${body} />` : html`<p class="hint">Quotes from its documents:</p>`}
    ${isWritten && html`<${Proof} sources=${sources} />`}
    ${exercise && html`<${Exercise} key=${exercise.id} set=${set} item=${exercise} />`}
    <p class="page-end"><${Button} onClick=${onBack}>All lessons</>${isWritten && html` <${Button} kind="main" onClick=${onDone}>${isLast ? "Done" : "Done, next lesson"}</>`}</p></article>`;
}

function Exercise({ set, item }) {
  const [attempt, setAttempt] = useState(null);
  const start = () => study.attempt(set.id).then(setAttempt, (error) => toast(error.message));
  return html`<section class="exercise">${attempt ? html`<${Question} item=${item} attempt=${attempt} place="Exercise" next="Close" onNext=${() => setAttempt(null)} />`
    : html`<${Button} icon="check" onClick=${start}>Try the exercise</>`}</section>`;
}

function Text({ body: { text, citations } }) {
  const element = useRef(null);
  useEffect(() => {
    const cited = (chip) => citations.find(({ n }) => n === prose.markerOf(chip)?.n);
    const prose = new Prose(element.current, { onCite: (chip) => cited(chip) && openPanel(panelOf(passageOf(cited(chip)), chip)) });
    prose.finish(text);
    prose.cite(citations);
    return () => prose.stop();
  }, [text]);
  return html`<div class="prose" ref=${element}></div>`;
}
