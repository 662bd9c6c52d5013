// #/study/{id}: one set. While it is being made its progress is shown, then its quiz, cards, lessons or map.
import { Button, Dialog, IconButton, Notice, Spinner, toast } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address, go } from "../router.js";
import { sentence } from "../shell/failures.js";
import { useTitle } from "../shell/title.js";
import { Failure, useData } from "../data.js";
import { save, study } from "./api.js";
import { Cards } from "./cards.js";
import { saidOf } from "./home.js";
import { MindMap } from "./map.js";
import { KINDS } from "./parts.js";
import { Quiz } from "./quiz.js";
import { Workshop } from "./workshop.js";

const SHOWN = { quiz: Quiz, cards: Cards, workshop: Workshop, map: MindMap };
const isMaking = ({ status }) => status === "queued" || status === "running";

export function Set({ id }) {
  const { data: set, error, reload, put } = useData((signal) => study.set(id, signal), [id]);
  useTitle(set?.title ?? "Study");
  if (error) return html`<h1 class="unseen">Study</h1><${Failure} error=${error} />`;
  if (!set) return html`<${Spinner} label="Loading" />`;
  return html`<${Head} set=${set} onChange=${(changed) => put({ ...set, ...changed })} />
    ${isMaking(set) && html`<${Making} set=${set} onEnd=${reload} />`}
    ${set.status === "failed" && html`<${Notice} kind="error" title="The set could not be created."><p>${sentence(set.error)}</p></>`}
    ${set.stale > 0 && html`<${Notice} kind="warn" title="A document has changed since."><p>Items that rest on the old text are marked.</p></>`}
    ${!isMaking(set) && set.items.length > 0 && html`<${SHOWN[set.kind]} key=${id} set=${set} onChange=${reload} />`}
    <${Dropped} dropped=${set.dropped} />`;
}

function Head({ set, onChange }) {
  const [doing, setDoing] = useState("");
  const close = () => setDoing("");
  const act = (work) => work.then(close, (error) => toast(error.message));
  const rename = (event) => {
    event.preventDefault();
    const title = new FormData(event.target).get("title").trim();
    act(study.rename(set.id, title).then(() => onChange({ title })));
  };
  return html`<header class="set-head"><p class="eyebrow"><a href=${address("study")}>Study</a></p>
    <h1>${set.title || KINDS[set.kind].name}</h1><p class="hint">${saidOf(set)}</p>
    <div class="set-tools"><${IconButton} icon="edit" label="Rename" onClick=${() => setDoing("rename")} />
      ${set.items.length > 0 && KINDS[set.kind].formats.map((format) => html`<${Button} key=${format} icon="down-file" onClick=${() => act(save(set, format))}>${format === "csv" ? "CSV" : format[0].toUpperCase() + format.slice(1)}</>`)}
      <${IconButton} icon="bin" label="Delete" onClick=${() => setDoing("delete")} /></div>
    <${Dialog} title="Rename" open=${doing === "rename"} onClose=${close}><form class="form" onSubmit=${rename}>
      <label class="field">Name<input name="title" defaultValue=${set.title} maxlength="200" required /></label>
      <div class="form-end"><button class="button main"><span>Save</span></button></div></form></${Dialog}>
    <${Dialog} title="Delete this set?" open=${doing === "delete"} onClose=${close}><p>The set and your answers are deleted.</p>
      <div class="form-end"><${Button} onClick=${close}>Cancel</><${Button} kind="danger" onClick=${() => act(study.remove(set.id).then(() => go(address("study"))))}>Delete</></div></${Dialog}></header>`;
}

function Making({ set, onEnd }) {
  const [stage, setStage] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    watch(set.run_id, setStage, controller.signal).then(() => controller.signal.aborted || setTimeout(onEnd, 300));
    return () => controller.abort();
  }, [set]);
  return html`<div class="making"><${Spinner} label=${set.status === "queued" && !stage ? "Waiting for a worker" : `Creating it${stage ? `: ${stage}` : ""}`} />
    <${Button} onClick=${() => study.cancel(set.run_id).catch((error) => toast(error.message))}>Stop</></div>`;
}

// Until the run ends, or the connection does.
async function watch(run, onStage, signal) {
  try {
    for await (const { event, data } of study.progress(run, signal)) if (event === "run") onStage(data.stage);
  } catch {
    // the set tells how far it is
  }
}

function Dropped({ dropped }) {
  const counts = Object.entries(dropped ?? {});
  return counts.length > 0 && html`<details class="hint"><summary>${counts.reduce((sum, [, n]) => sum + n, 0)} items were left out</summary>
    <ul>${counts.map(([reason, n]) => html`<li key=${reason}>${n}: ${reason}</li>`)}</ul></details>`;
}
