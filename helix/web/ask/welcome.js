// What is there before the first question: how much there is to ask, and questions that the
// documents' own headings suggest. They are made of titles and headings, by no model.
import { api } from "../api.js";
import { Icon, Notice } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address } from "../router.js";
import { shortened } from "../text.js";

const DOCUMENTS = 4;
const QUESTIONS = 4;

export function Welcome({ scope, onAsk }) {
  const { total, questions, error } = useLibrary(scope);
  return html`<div class="welcome">
    <h1>Ask your documents</h1>
    <p class="lead">Each sentence of an answer carries the passage it rests on. Where the documents have no answer, you are told so.</p>
    ${error && html`<${Notice} kind="error" title="The library could not be read."><p>${error}</p></>`}
    ${total === 0 && html`<${Notice} title="The library is empty."><p><a href=${address("library")}>Add documents</a> to ask them.</p></>`}
    ${questions.length > 0 && html`<section aria-labelledby="examples"><h2 id="examples" class="eyebrow">For example</h2>
      <ul class="examples">${questions.map((question) => html`<li key=${question}><button type="button" onClick=${() => onAsk(question)}><span>${question}</span><${Icon} name="after" /></button></li>`)}</ul></section>`}
    ${total > 0 && html`<p class="hint">${total.toLocaleString("en")} ${total === 1 ? "document" : "documents"} to ask.</p>`}
  </div>`;
}

function useLibrary(scope) {
  const [state, setState] = useState({ total: null, questions: [], error: "" });
  const chosen = JSON.stringify(scope);
  useEffect(() => {
    const controller = new AbortController();
    look(scope, controller.signal).then(setState, (error) => {
      if (error.name !== "AbortError" && error.status !== 401) setState({ total: null, questions: [], error: error.message });
    });
    return () => controller.abort();
  }, [chosen]);
  return state;
}

async function look({ documents: ids, tags }, signal) {
  const wanted = { status: "ready", limit: DOCUMENTS, tag: tags };
  const { documents, total } = await api.documents(wanted, signal);
  const asked = ids.length ? ids.slice(0, DOCUMENTS) : documents.map((document) => document.id);
  const read = await Promise.all(asked.map((id) => api.document(id, { text: false }, signal).catch(() => null)));
  return { total: ids.length || total, questions: questionsOf(read.filter(Boolean)), error: "" };
}

// One heading of each document in turn, until there are enough.
export function questionsOf(documents) {
  const lists = documents.map((document) => ({ title: shortened(document.title, 60), headings: headingsOf(document) }));
  const questions = [];
  for (let n = 0; questions.length < QUESTIONS && n < QUESTIONS; n += 1) {
    for (const { title, headings } of lists) {
      // a heading that is a question, as in an FAQ, asks itself
      if (headings[n]?.endsWith("?")) questions.push(headings[n]);
      else if (headings[n]) questions.push(`What does “${title}” say about “${headings[n]}”?`);
      else if (n === 0) questions.push(`What does “${title}” say?`);
    }
  }
  return questions.slice(0, QUESTIONS);
}

function headingsOf({ title, outline }) {
  const same = title.toLowerCase();
  const headings = (outline || []).map((section) => section.heading_path?.at(-1)).filter(Boolean);
  return [...new Set(headings.map((heading) => shortened(heading, 60)))].filter((heading) => heading.toLowerCase() !== same);
}
