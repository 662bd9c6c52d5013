// What is there before the first question: how much there is to ask, and questions that the
// documents suggest, each of which the server asked once and answered with proof.
import { api } from "../api.js";
import { Button, Icon, Notice, toast } from "../components.js";
import { Failure } from "../data.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { useCards } from "../library/cards.js";
import { runs } from "../library/follow.js";
import { addSamples } from "../library/intake.js";
import { address } from "../router.js";
import { mayEdit, useSpaces } from "../shell/spaces.js";
import { useStore } from "../store.js";

const QUESTIONS = 6;
const AGAIN = 5000; // ms; the server makes questions a while after documents came
const TRIES = 8;

export function Welcome({ scope, onAsk }) {
  const { total, questions, error, retry } = useLibrary(scope);
  const spaces = useSpaces();
  const [edits, { now }] = [mayEdit(spaces), spaces];
  const comes = useCards().some(({ ended }) => !ended);
  return html`<div class="welcome">
    <h1>Ask your documents</h1>
    <p class="lead">Each sentence of an answer cites the passage it rests on. If the documents have no answer, Helix says so.</p>
    ${error && html`<${Failure} error=${{ message: error, retry }} />`}
    ${total === 0 && comes && html`<p class="hint">Documents are being read. They can be asked as soon as they are ready.</p>`}
    ${total === 0 && !comes && !edits && html`<${Notice} title="Nothing to read here yet."><p>Whoever keeps this space adds its documents.</p></>`}
    ${total === 0 && !comes && edits && html`<${Notice} title=${now?.id ? `${now.name} is empty.` : "The library is empty."}><p><a href=${address("library")}>Add documents</a>, or drop a file here. Or start with the samples that come with Helix.</p>
      <${Button} onClick=${() => addSamples().catch((problem) => toast(problem.message))}>Add the samples</></>`}
    ${questions.length > 0 && html`<section aria-labelledby="examples"><h2 id="examples" class="eyebrow">For example</h2>
      <ul class="examples">${questions.map((question) => html`<li key=${question}><button type="button" onClick=${() => onAsk(question)}><span>${question}</span><${Icon} name="after" /></button></li>`)}</ul></section>`}
    ${total > 0 && html`<p class="hint">${total.toLocaleString("en")} ${total === 1 ? "document" : "documents"} to ask.</p>`}
  </div>`;
}

function useLibrary(scope) {
  const [state, setState] = useState({ total: null, questions: [], error: "" });
  const chosen = JSON.stringify(scope);
  const changes = useStore(runs, (now) => now.changes); // documents came, or went
  const tries = useRef(0);
  const [tried, setTried] = useState(0);
  useEffect(() => { tries.current = 0; }, [chosen, changes]);
  useEffect(() => {
    if (!state.total || state.questions.length || tries.current >= TRIES) return undefined;
    const timer = setTimeout(() => {
      tries.current += 1;
      setTried((now) => now + 1);
    }, AGAIN);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    const controller = new AbortController();
    look(scope, controller.signal).then(setState, (error) => {
      if (error.name !== "AbortError" && error.status !== 401) setState({ total: null, questions: [], error: error.message });
    });
    return () => controller.abort();
  }, [chosen, changes, tried]);
  return { ...state, retry: () => setTried((now) => now + 1) };
}

async function look({ documents: ids, tags }, signal) {
  const [{ total }, { questions }] = await Promise.all([
    api.documents({ status: "ready", limit: 1, tag: tags }, signal),
    api.suggestions({ document_id: ids, tag: tags }, signal),
  ]);
  const asked = questions.slice(0, QUESTIONS).map(({ question }) => question);
  return { total: ids.length || total, questions: asked, error: "" };
}
