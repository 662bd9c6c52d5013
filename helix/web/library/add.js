// Bring documents in: files dropped or chosen, or the address of a page.
import { Button, Icon, Notice, announce } from "../components.js";
import { html, useRef, useState } from "../html.js";
import { follow } from "./follow.js";
import { library } from "./library-api.js";

const AT_ONCE = 100; // files of one request, as the server has it
const LINK = /^https?:\/\/\S+$/i;

export function Add() {
  const [over, setOver] = useState(false);
  const [state, setState] = useState({ sending: 0, error: "" });
  const chooser = useRef(null);
  const send = async (files) => {
    if (!files.length) return;
    setState({ sending: files.length, error: "" });
    setState({ sending: 0, error: await sent(files) });
  };
  const onDrop = async (event) => {
    event.preventDefault();
    setOver(false);
    const link = event.dataTransfer.getData("text/uri-list").split("\n")[0].trim();
    const files = await filesOf(event.dataTransfer);
    if (files.length) send(files);
    else if (LINK.test(link)) setState({ sending: 0, error: await fetched(link) });
  };
  return html`<section class="add" aria-label="Add documents">
    <div class=${over ? "drop over" : "drop"} onDragOver=${(event) => { event.preventDefault(); setOver(true); }}
      onDragLeave=${(event) => event.currentTarget.contains(event.relatedTarget) || setOver(false)} onDrop=${onDrop}>
      <${Icon} name="document" />
      <p><strong>Drop files or folders here</strong><span class="hint">PDF, Word, PowerPoint, Excel, CSV, Markdown, HTML, EPUB, text</span></p>
      <${Button} onClick=${() => chooser.current.click()}>Choose files</>
      <input ref=${chooser} class="unseen" type="file" multiple tabindex="-1" aria-label="Files to add"
        onChange=${(event) => { send([...event.target.files]); event.target.value = ""; }} />
    </div>
    <${Address} onError=${(error) => setState({ sending: 0, error })} />
    ${state.sending > 0 && html`<p class="hint" role="status">Sending ${state.sending} ${state.sending === 1 ? "file" : "files"} …</p>`}
    ${state.error && html`<${Notice} kind="error" title="That was not taken in."><p>${state.error}</p></>`}
  </section>`;
}

function Address({ onError }) {
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    const url = String(new FormData(form).get("url")).trim();
    const error = LINK.test(url) ? await fetched(url) : "An address begins with http:// or https://";
    onError(error);
    if (!error) form.reset();
  };
  return html`<form class="from-web" onSubmit=${submit}>
    <label class="field">Or the address of a page<input name="url" type="url" inputmode="url" placeholder="https://example.com/guide" required /></label>
    <button class="button"><span>Fetch</span></button>
  </form>`;
}

async function sent(files) {
  const problems = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const form = new FormData();
    for (const file of files.slice(at, at + AT_ONCE)) form.append("file", file, file.name);
    try {
      const { run_id, documents } = await library.upload(form);
      if (run_id) follow(run_id);
      announce(`${documents.length} files are being read.`);
    } catch (error) {
      problems.push(error.message);
    }
  }
  return problems.join("; ");
}

async function fetched(url) {
  try {
    const { run_id } = await library.fetchUrl({ url });
    follow(run_id);
    return "";
  } catch (error) {
    return error.message;
  }
}

// The files of a drop; those of folders too, where the browser lets a page see them.
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

async function walk(entry, found) {
  if (entry.isFile) {
    found.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const one of some) await walk(one, found);
  }
}
