// Bring documents in: files dropped or chosen, or the address of a page.
import { Button, Icon, Notice, announce } from "../components.js";
import { html, useRef, useState } from "../html.js";
import { follow } from "./follow.js";
import { library } from "./library-api.js";

const AT_ONCE = 100; // files of one request, as the server has it
const REFUSED = new Set([400, 413, 415]);
const QUIET = { sending: 0, known: 0, problems: [] };
const LINK = /^https?:\/\/\S+$/i;

export function Add() {
  const [over, setOver] = useState(false);
  const [state, setState] = useState(QUIET);
  const chooser = useRef(null);
  const send = async (files) => {
    if (!files.length) return;
    setState({ ...QUIET, sending: files.length });
    setState({ ...QUIET, ...(await sent(files)) });
  };
  const onDrop = async (event) => {
    event.preventDefault();
    setOver(false);
    const link = event.dataTransfer.getData("text/uri-list").split("\n")[0].trim();
    const files = await filesOf(event.dataTransfer);
    if (files.length) send(files);
    else if (LINK.test(link)) setState({ ...QUIET, problems: await fetched(link) });
  };
  return html`<section class="add" aria-label="Add documents">
    <div class=${over ? "drop over" : "drop"} onDragOver=${(event) => { event.preventDefault(); setOver(true); }}
      onDragLeave=${(event) => event.currentTarget.contains(event.relatedTarget) || setOver(false)} onDrop=${onDrop}>
      <span class="drop-icon"><${Icon} name="add" /></span>
      <p><strong>Drop files or folders here</strong><span class="hint">PDF, Word, PowerPoint, Excel, CSV, Markdown, HTML, EPUB, text</span></p>
      <${Button} kind="main" onClick=${() => chooser.current.click()}>Choose files</>
      <input ref=${chooser} class="unseen" type="file" multiple tabindex="-1" aria-label="Files to add"
        onChange=${(event) => { send([...event.target.files]); event.target.value = ""; }} />
      <${Address} onTold=${(problems) => setState({ ...QUIET, problems })} />
    </div>
    <div role="status">${state.sending > 0 && html`<p class="hint">Sending ${state.sending} ${state.sending === 1 ? "file" : "files"} …</p>`}
      ${state.known > 0 && html`<p class="hint">${state.known === 1 ? "One file is" : `${state.known} files are`} in the library already.</p>`}</div>
    ${state.problems.length > 0 && html`<${Notice} kind="error" title="Not all of it was taken in.">
      <ul class="plain-list">${state.problems.map((problem) => html`<li key=${problem}>${problem}</li>`)}</ul></>`}
  </section>`;
}

function Address({ onTold }) {
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    const url = String(new FormData(form).get("url")).trim();
    const problems = LINK.test(url) ? await fetched(url) : ["An address begins with http:// or https://"];
    onTold(problems);
    if (!problems.length) form.reset();
  };
  return html`<form class="from-web" onSubmit=${submit} novalidate>
    <label class="unseen" for="from-web">The address of a page</label>
    <input id="from-web" name="url" type="url" inputmode="url" placeholder="or paste the address of a page: https://…" autocomplete="off" required />
    <button class="button"><span>Fetch</span></button>
  </form>`;
}

// What was taken in is followed; { known, problems } of the rest.
async function sent(files) {
  const told = { known: 0, problems: [] };
  for (let at = 0; at < files.length; at += AT_ONCE) {
    await upload(files.slice(at, at + AT_ONCE), told);
  }
  return told;
}

// A request is taken as a whole or not at all, so one that is refused is sent again in halves.
async function upload(files, told) {
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  try {
    const { run_id: run, documents } = await library.upload(form);
    told.known += run === null ? documents.filter((one) => one.duplicate).length : 0;
    if (run !== null) follow(run);
    announce(`${documents.length} ${documents.length === 1 ? "file is" : "files are"} being read.`);
  } catch (error) {
    if (files.length > 1 && REFUSED.has(error.status)) {
      const middle = files.length >> 1;
      await upload(files.slice(0, middle), told);
      await upload(files.slice(middle), told);
    } else {
      told.problems.push(error.message);
    }
  }
}

async function fetched(url) {
  try {
    follow((await library.fetchUrl({ url })).run_id);
    return [];
  } catch (error) {
    return [error.message];
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
