// The dialogs that bring in a text or pages of the web. They are drawn over every view (anywhere.js).
//
//   openDialog("text", { text, tags });   openDialog("web", { url, tags });
import { Button, Dialog, Notice } from "../components.js";
import { html, useState } from "../html.js";
import { createStore, useStore } from "../store.js";
import { useWork } from "../work.js";
import { addText, addWeb } from "./intake.js";
import { labelsOf } from "./labels.js";

export const LINK = /^https?:\/\/\S+$/i;
const CLOSED = { name: "", text: "", url: "", tags: [] };
const dialog = createStore(CLOSED);

export const openDialog = (name, given = {}) => dialog.set({ ...CLOSED, ...given, name });

export function AddDialogs() {
  const { name, text, url, tags } = useStore(dialog);
  const close = () => dialog.set(CLOSED);
  return html`<${Dialog} title="Paste text" open=${name === "text"} onClose=${close}><${Text} text=${text} tags=${tags} onDone=${close} /></${Dialog}>
    <${Dialog} title="From the web" open=${name === "web"} onClose=${close}><${Web} url=${url} tags=${tags} onDone=${close} /></${Dialog}>`;
}

// What a dialog's form sends; it stays open with the reason where the server refuses.
function useSending(send, onDone) {
  const { busy, error, on } = useWork();
  const submit = on(async (form) => {
    await send((name) => String(form.get(name) ?? "").trim());
    onDone();
  });
  return { busy, error, submit };
}

function Text({ text, tags, onDone }) {
  const { busy, error, submit } = useSending(async (typed) => {
    if (!typed("text")) throw new Error("There is no text yet: paste or type it.");
    const line = typed("text").split("\n", 1)[0].replace(/^#+ /, "").slice(0, 80);
    await addText({ title: typed("title") || line, text: typed("text"), tags: labelsOf(typed("labels")) });
  }, onDone);
  return html`<form class="form" onSubmit=${submit}>
    <label class="field">Title<input name="title" maxlength="500" autocomplete="off" placeholder="Default: the first line of the text" /></label>
    <label class="field">Text<textarea name="text" data-focus rows="10" defaultValue=${text}></textarea></label>
    <${LabelField} tags=${tags} />
    ${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end"><${Button} onClick=${onDone}>Cancel</><button class="button main" disabled=${busy}><span>Add the text</span></button></div>
  </form>`;
}

function Web({ url, tags, onDone }) {
  const [site, setSite] = useState(false);
  const { busy, error, submit } = useSending(async (typed) => {
    if (!LINK.test(typed("url"))) throw new Error("The address must begin with http:// or https://");
    const asked = { url: typed("url"), tags: labelsOf(typed("labels")), site };
    await addWeb(site ? { ...asked, pages: Number(typed("pages")), whole: typed("whole") === "on", files: typed("files") === "on" } : asked);
  }, onDone);
  return html`<form class="form" onSubmit=${submit} novalidate>
    <label class="field">Address<input name="url" type="url" inputmode="url" defaultValue=${url} placeholder="https://…" autocomplete="off" /></label>
    <fieldset class="ways"><legend class="unseen">How much</legend>
      <label class="check"><input type="radio" name="way" checked=${!site} onChange=${() => setSite(false)} /> This page</label>
      <label class="check"><input type="radio" name="way" checked=${site} onChange=${() => setSite(true)} /> This page and the pages it links to, on the same site</label>
    </fieldset>
    ${site && html`<label class="field">Maximum number of pages<input name="pages" type="number" min="1" max="10000" defaultValue="100" /></label>
      <label class="check"><input type="checkbox" name="whole" /> The whole site, not only pages below this address</label>
      <label class="check"><input type="checkbox" name="files" /> PDFs and other files too</label>
      <p class="hint">The site’s robots.txt is obeyed.</p>`}
    <${LabelField} tags=${tags} />
    ${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end"><${Button} onClick=${onDone}>Cancel</><button class="button main" disabled=${busy}><span>${site ? "Import pages" : "Import page"}</span></button></div>
  </form>`;
}

function LabelField({ tags }) {
  return html`<label class="field">Labels <input name="labels" defaultValue=${tags.join(", ")} placeholder="travel, 2026" autocomplete="off" /></label>`;
}
