// A source added in three steps: where it is, which of its files, its name and how often it is synced.
//
//   <${AddSource} open=${b} kinds=${kinds} onClose=${f} onAdded=${f} />
import { call } from "../api.js";
import { Button, Dialog, Notice, toast } from "../components.js";
import { html, useLayoutEffect, useRef, useState } from "../html.js";

const STEPS = ["Where it is", "Which files", "How often"];
const EVERY = [[900, "every 15 minutes"], [3600, "every hour"], [86400, "every day"], [0, "when asked to"]];
const NEW = { kind: "folder", address: "", options: {}, secrets: {}, include: "", exclude: "", tags: "", name: null, every_seconds: 3600 };

export function AddSource({ open, kinds, onClose, onAdded }) {
  const [draft, setDraft] = useState(NEW);
  const [step, setStep] = useState(0);
  const [state, setState] = useState({ busy: false, error: "" });
  const head = useRef(null);
  useLayoutEffect(() => { if (open) { setDraft(NEW); setStep(0); setState({ busy: false, error: "" }); } }, [open]);
  useLayoutEffect(() => head.current?.focus(), [step]);
  const put = (changed) => setDraft((now) => ({ ...now, ...changed }));
  const kind = kinds.find(({ name }) => name === draft.kind) ?? kinds[0];
  const next = async (event) => {
    event.preventDefault();
    if (step < STEPS.length - 1) return setStep(step + 1);
    setState({ busy: true, error: "" });
    try {
      await call("POST /v1/sources", { body: bodyOf(draft) });
      toast("Added: it is brought in now");
      onAdded();
    } catch (error) {
      setState({ busy: false, error: error.message });
    }
  };
  const Step = [Where, Which, Often][step];
  return html`<${Dialog} title="Add a source" open=${open} onClose=${onClose}>
    <form class="form" onSubmit=${next}>
      <h3 ref=${head} tabindex="-1" class="step-title">Step ${step + 1} of ${STEPS.length}: ${STEPS[step]}</h3>
      <${Step} kind=${kind} kinds=${kinds} draft=${draft} put=${put} />
      ${state.error && html`<${Notice} kind="error">${state.error}</>`}
      <div class="form-end">${step > 0 && html`<${Button} onClick=${() => setStep(step - 1)}>Back</>`}
        <button class="button main" disabled=${state.busy}><span>${step < STEPS.length - 1 ? "Next" : "Add"}</span></button></div>
    </form>
  </>`;
}

function Where({ kind, kinds, draft, put }) {
  const choose = ({ target }) => put({ kind: target.value, options: {}, secrets: {} });
  return html`<label class="field">What it is<select value=${draft.kind} data-focus onChange=${choose}>
      ${kinds.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>
    <label class="field">Address<input required maxlength="2000" autocomplete="off" spellcheck=${false} value=${draft.address} placeholder=${kind.example} onInput=${({ target }) => put({ address: target.value })} />
      <span class="hint">${kind.address}</span></label>
    ${kind.options.map((option) => html`<${Option} key=${`${kind.name} ${option.name}`} option=${option} draft=${draft} put=${put} />`)}`;
}

function Option({ option, draft, put }) {
  const place = option.secret ? "secrets" : "options";
  const set = (value) => put({ [place]: { ...draft[place], [option.name]: value } });
  const value = draft[place][option.name];
  if (option.kind === "switch") {
    return html`<label class="check"><input type="checkbox" checked=${value === true} onChange=${({ target }) => set(target.checked)} /><span>${option.title}</span></label>`;
  }
  const type = option.secret ? "password" : option.kind === "number" ? "number" : "text";
  return html`<label class="field">${option.title}<input type=${type} autocomplete=${option.secret ? "new-password" : "off"} spellcheck=${false} value=${value ?? ""} onInput=${({ target }) => set(target.value)} /></label>`;
}

function Which({ draft, put }) {
  return html`<label class="field">Files to take<input autocomplete="off" spellcheck=${false} value=${draft.include} placeholder="all that are read" onInput=${({ target }) => put({ include: target.value })} />
      <span class="hint">Patterns, with commas: *.pdf, handbook/</span></label>
    <label class="field">Files to leave<input autocomplete="off" spellcheck=${false} value=${draft.exclude} placeholder="none" onInput=${({ target }) => put({ exclude: target.value })} /></label>
    <label class="field">Labels of its documents<input autocomplete="off" value=${draft.tags} placeholder="none" onInput=${({ target }) => put({ tags: target.value })} /></label>`;
}

function Often({ draft, put }) {
  return html`<label class="field">Name<input required maxlength="100" autocomplete="off" value=${draft.name ?? nameOf(draft.address)} onInput=${({ target }) => put({ name: target.value })} /></label>
    <fieldset class="choices"><legend>It is synced</legend>${EVERY.map(([seconds, word]) => html`<label class="check" key=${seconds}>
      <input type="radio" name="every" checked=${draft.every_seconds === seconds} onChange=${() => put({ every_seconds: seconds })} /><span>${word}</span></label>`)}</fieldset>
    <p class="hint">A document goes when its file is gone there. If many are gone at once, you are asked first.</p>`;
}

const nameOf = (address) => address.replace(/\/+$/, "").split("/").at(-1) || address;
const listOf = (text) => text.split(",").map((one) => one.trim()).filter(Boolean);
const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== false));

function bodyOf({ kind, address, options, secrets, include, exclude, tags, name, every_seconds }) {
  return {
    kind, address, every_seconds, name: name ?? nameOf(address), options: filled(options),
    include: listOf(include), exclude: listOf(exclude), tags: listOf(tags), ...(Object.keys(filled(secrets)).length ? { secrets: filled(secrets) } : {}),
  };
}
