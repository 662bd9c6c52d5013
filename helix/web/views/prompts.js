// #/prompts: the list of prompts; #/prompts/{name}: one of them, to edit, try on a question, compare with
// the shipped text and reset.
import { momentOf } from "../dates.js";
import { call } from "../api.js";
import { Button, Notice, Spinner, toast } from "../components.js";
import { html, useState } from "../html.js";
import { address } from "../router.js";
import { Failure, useData } from "../data.js";

export default function Prompts({ route }) {
  const [name] = route.rest;
  return html`<div class="page prompts">${name ? html`<${Prompt} key=${name} name=${name} />` : html`<${List} />`}</div>`;
}

function List() {
  const { data, error } = useData((signal) => call("GET /v1/prompts", { signal }), []);
  return html`<h1>Prompts</h1><p class="lead">The instructions that models get. The part that keeps an answer to its sources is fixed. You can change the rest; a change applies from the next question on.</p>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Spinner} label="Loading" />`}
    <ul class="sets">${data?.prompts.map(({ name, title, use, version, broken }) => html`<li key=${name}><a href=${address("prompts", [name])}>${title}</a>
      <span class="hint">${use}</span>${version !== null && html`<span class="state">${broken ? "invalid, not used" : `your own, version ${version}`}</span>`}</li>`)}</ul>`;
}

function Prompt({ name }) {
  const path = { name };
  const { data, error, put } = useData((signal) => call("GET /v1/prompts/{name}", { path, signal }), [name]);
  const [draft, setDraft] = useState(null); // null: as it is
  const [problem, setProblem] = useState("");
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Spinner} label="Loading" />`;
  const text = draft ?? data.text;
  const act = async (work, done) => {
    setProblem("");
    try {
      put(await work);
      setDraft(null);
      toast(done);
    } catch (failed) {
      setProblem(failed.message);
    }
  };
  const save = (event) => {
    event.preventDefault();
    act(call("POST /v1/prompts/{name}", { path, body: { text, last_version: data.last_version } }), "Saved: used from the next question on");
  };
  return html`<p class="eyebrow"><a href=${address("prompts")}>Prompts</a></p><h1>${data.title}</h1><p class="lead">${data.use}</p>
    ${data.broken && html`<${Notice} kind="warn" title="Your text is invalid: the default text is used."><p>${data.broken}</p></>`}
    <form class="form" onSubmit=${save}>
      <${Fixed} text=${data.before} />
      <label class="field">Text${data.placeholders.length > 0 && html` <span class="hint">with ${data.placeholders.map((one) => `{{${one}}}`).join(", ")}</span>`}
        <textarea class="prompt-text" rows=${Math.min(24, text.split("\n").length + 2)} spellcheck=${false} value=${text} data-focus onInput=${(event) => setDraft(event.target.value)}></textarea></label>
      <${Fixed} text=${data.after} />
      ${problem && html`<${Notice} kind="error">${problem}</>`}
      <div class="form-end">${data.version !== null && html`<${Button} onClick=${() => act(call("DELETE /v1/prompts/{name}", { path }), "The default text is used again")}>Restore the default text</>`}
        <button class="button main" disabled=${draft === null || draft === data.text}><span>Save</span></button></div></form>
    <${Trial} path=${path} text=${text} />
    ${data.diff.length > 0 && html`<details><summary>Changes from the default text</summary><pre class="diff">${data.diff.slice(2).map((line, n) => html`<span key=${n} class=${{ "+": "added", "-": "left" }[line[0]] ?? ""}>${line}${"\n"}</span>`)}</pre></details>`}
    ${data.versions.length > 0 && html`<h2>Versions</h2><ul class="sets">${data.versions.map(({ version, text: own, author, created_at: at }) => html`<li key=${version}>
      <span>${version}. ${own === null ? "the default text" : "your own"}</span><span class="hint">${[momentOf(at), author].filter(Boolean).join(", ")}</span>
      ${version !== data.last_version && html`<button type="button" class="text-button" onClick=${() => act(call("POST /v1/prompts/{name}/rollback", { path, body: { version } }), `Version ${version} is restored`)}>Restore</button>`}</li>`)}</ul>`}`;
}

const Fixed = ({ text }) => text && html`<details class="hint"><summary>Fixed part</summary><pre>${text}</pre></details>`;

function Trial({ path, text }) {
  const [state, setState] = useState({ busy: false, answer: null, error: "" });
  const run = async (event) => {
    event.preventDefault();
    const question = new FormData(event.target).get("question").trim();
    setState({ busy: true, answer: null, error: "" });
    try {
      const { answer } = await call("POST /v1/prompts/{name}/preview", { path, body: { text, question } });
      setState({ busy: false, answer: answer.answer, error: "" });
    } catch (failed) {
      setState({ busy: false, answer: null, error: failed.message });
    }
  };
  return html`<form class="form trial" onSubmit=${run}><label class="field">Try it on a question<input name="question" required maxlength="4000" /></label>
    <div class="form-end"><button class="button" disabled=${state.busy}><span>Try</span></button></div>
    ${state.busy && html`<${Spinner} label="Answering" />`}${state.error && html`<${Notice} kind="error">${state.error}</>`}
    ${state.answer !== null && html`<p class="refusal-title" role="status">${state.answer}</p>`}</form>`;
}
