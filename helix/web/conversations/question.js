// The question above its answer: editing it in place, and switching between its versions.
//
//   <${Question} turn=${turn} onEdit=${(question) => …} onSwitch=${(message) => …} />
import { Button, IconButton } from "../components.js";
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { fits } from "./asking.js";

const LONG = 600; // characters: the answer would begin below what is seen

export function Question({ turn, onEdit, onSwitch }) {
  const [editing, setEditing] = useState(false);
  const tools = useRef(null);
  const isLong = turn.question.length > LONG;
  const canEdit = onEdit && turn.id !== null;
  const leave = () => {
    setEditing(false);
    requestAnimationFrame(() => tools.current?.querySelector("button")?.focus({ preventScroll: true }));
  };
  const save = (question, field) => {
    if (question === turn.question) return leave();
    stay(field);
    setEditing(false);
    return onEdit(question);
  };
  if (editing) return html`<${Editor} text=${turn.question} onSave=${save} onLeave=${leave} />`;
  return html`<div class="question-row">
    <h2 class=${isLong ? "question long" : "question"} tabindex=${isLong ? 0 : -1}>${turn.question}</h2>
    ${canEdit && html`<div class="question-tools" ref=${tools}>
      <${IconButton} icon="edit" label="Edit the question" onClick=${() => setEditing(true)} />
      ${onSwitch && turn.siblings.length > 1 && html`<${Siblings} turn=${turn} onSwitch=${onSwitch} />`}</div>`}</div>`;
}

function Siblings({ turn, onSwitch }) {
  const at = turn.siblings.indexOf(turn.id);
  const to = (n, { currentTarget }) => {
    stay(currentTarget);
    onSwitch(turn.siblings[n]);
  };
  return html`<span class="siblings" role="group" aria-label="Versions of this question">
    <${IconButton} icon="before" label="Previous version" disabled=${at <= 0} onClick=${(event) => to(at - 1, event)} />
    <span aria-live="polite">${at + 1} of ${turn.siblings.length}</span>
    <${IconButton} icon="after" label="Next version" disabled=${at >= turn.siblings.length - 1} onClick=${(event) => to(at + 1, event)} /></span>`;
}

// The question that takes the place of one which had the focus has it then.
function stay(inside) {
  const turns = () => [...document.querySelectorAll(".turn")];
  const at = turns().indexOf(inside.closest(".turn"));
  const look = new MutationObserver(() => {
    const question = turns()[at]?.querySelector("h2");
    if (!question || document.activeElement !== document.body) return;
    look.disconnect();
    question.focus({ preventScroll: true });
  });
  look.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => look.disconnect(), 2000);
}

// Enter asks, Shift+Enter breaks the line, Escape leaves the question as it was.
function Editor({ text, onSave, onLeave }) {
  const field = useRef(null);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
    grow();
  }, []);
  const grow = () => {
    field.current.style.blockSize = "auto";
    field.current.style.blockSize = `${field.current.scrollHeight + 2}px`;
  };
  const save = () => {
    const question = field.current.value.trim();
    if (question && fits(question)) onSave(question, field.current);
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) save();
    else if (event.key === "Escape") onLeave();
    else return;
    event.preventDefault();
  };
  return html`<form class="editor" onSubmit=${(event) => { event.preventDefault(); save(); }}>
    <label class="unseen" for="edited">The question</label>
    <textarea id="edited" ref=${field} rows="1" defaultValue=${text} aria-describedby="edited-hint" onInput=${grow} onKeyDown=${onKeyDown}></textarea>
    <p class="hint" id="edited-hint">The earlier version stays, with everything that followed it.</p>
    <div class="form-end"><${Button} onClick=${onLeave}>Cancel</><button class="button main"><span>Ask</span></button></div></form>`;
}
