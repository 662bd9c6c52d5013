// #/study: due cards, a form for a new set, and the list of sets.
import { dateOf } from "../dates.js";
import { ScopeBar, scopeOf } from "../ask/scope.js";
import { Button, Icon, Spinner, toast } from "../components.js";
import { storedScope } from "../conversations/turn.js";
import { html, useRef, useState } from "../html.js";
import { address, go } from "../router.js";
import { Failure, useData } from "../data.js";
import { study } from "./api.js";
import { KINDS } from "./parts.js";

export function Home({ route }) {
  const due = useData((signal) => study.due(signal), []);
  return html`<h1>Study</h1>
    ${due.data && html`<${Due} due=${due.data} />`}
    <${Make} route=${route} />
    <${Sets} />`;
}

function Due({ due: { due, new: fresh } }) {
  const all = due + fresh;
  return html`<section class=${all ? "seal" : "seal none"} aria-label="Cards that are due"><${Icon} name=${all ? "label" : "check"} />
    <div><p class="seal-title">${all ? `${all} ${all === 1 ? "card is" : "cards are"} due` : "No card is due"}</p>
      ${all > 0 && html`<p class="hint">${fresh ? `${fresh} of them new` : "All were reviewed before"}</p>`}</div>
    ${all > 0 && html`<a class="button main" href=${address("study", ["due"])}>Review</a>`}</section>`;
}

function Make({ route }) {
  const [kind, setKind] = useState("quiz");
  const [scope, setScope] = useState(() => scopeOf(route));
  const [busy, setBusy] = useState(false);
  const { of, count: [least, usual, most], about } = KINDS[kind];
  const make = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    setBusy(true);
    try {
      const difficulty = form.get("difficulty");
      const { id } = await study.make({ kind, ...storedScope(scope), count: Number(form.get("count")), ...(difficulty ? { difficulty } : {}) });
      go(address("study", [id]));
    } catch (error) {
      toast(error.message);
      setBusy(false);
    }
  };
  return html`<section aria-labelledby="make"><h2 id="make">Create a study set</h2>
    <form class="form make" onSubmit=${make}>
      <fieldset class="choices"><legend class="unseen">What</legend>${Object.entries(KINDS).map(([value, { name }]) => html`<label key=${value}>
        <input type="radio" name="kind" value=${value} checked=${kind === value} onChange=${() => setKind(value)} /> ${name}</label>`)}</fieldset>
      <p class="hint">${about}</p>
      <${ScopeBar} scope=${scope} onChange=${setScope} />
      <div class="make-row"><label class="field">How many ${of}<input key=${kind} name="count" type="number" min=${least} max=${most} defaultValue=${usual} required /></label>
        ${kind === "quiz" && html`<label class="field">Difficulty<select name="difficulty"><option value="easy">easy</option><option value="normal" selected>normal</option><option value="advanced">advanced</option></select></label>`}
        <button class="button main" disabled=${busy}><span>Create</span></button></div>
    </form></section>`;
}

function Sets() {
  const { data, error, reload } = useData((signal) => study.sets({ limit: 100 }, signal), []);
  const chooser = useRef(null);
  const bringIn = async ({ target }) => {
    const form = new FormData();
    form.append("file", target.files[0]);
    target.value = "";
    try {
      await study.bringIn(form);
      reload();
    } catch (problem) {
      toast(problem.message);
    }
  };
  return html`<section aria-labelledby="made"><h2 id="made">Your study sets</h2>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Spinner} label="Loading" />`}
    ${data && !data.sets.length && html`<p class="hint">No study sets yet.</p>`}
    <ul class="sets">${data?.sets.map((one) => html`<li key=${one.id}><${Icon} name=${KINDS[one.kind].icon} />
      <a href=${address("study", [one.id])}>${one.title}</a><span class="hint">${saidOf(one)}</span></li>`)}</ul>
    <p><${Button} icon="add" onClick=${() => chooser.current.click()}>Import cards</>
      <input ref=${chooser} class="unseen" type="file" accept=".csv,.apkg" tabindex="-1" aria-label="Card file" onChange=${bringIn} /> <span class="hint">an Anki package, or CSV with front and back</span></p></section>`;
}

export function saidOf({ kind, status, made, wanted, stale, created_at: at }) {
  const { name, of } = KINDS[kind];
  const amount = { queued: "waiting", running: `${made} of ${wanted} ${of}`, failed: "failed" }[status] ?? `${made} ${of}`;
  return [name, amount, stale ? "a document has changed" : "", dateOf(at)].filter(Boolean).join(" · ");
}
