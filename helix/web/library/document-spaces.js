// Documents put into a space, moved there, or taken out of the one that the page is in.
//
//   <${DocumentSpaces} ids=${ids} known=${rows} picked=${useChosen(…)} onDone=${f} />
import { call } from "../api.js";
import { Button } from "../components.js";
import { html, useState } from "../html.js";
import { learnSpaces, useSpaces } from "../shell/spaces.js";
import { useBatch } from "./many.js";

const WAYS = { add: "Put them there too", move: "Move them there", remove: "Take them out of it" };
const MEANT = {
  add: "Whoever may read them now still may; so may readers of this space.",
  move: "They leave their other spaces: from now on readers of this space alone may read them.",
  remove: "Readers of this space may read them only where they stand in another.",
};
const SAID = { add: "put into", move: "moved to", remove: "taken out of" };

// Each document has its outcome, as those of a batch.
const place = ({ space, way }, ids) =>
  call("POST /v1/spaces/{space_id}/documents", { path: { space_id: space }, body: { [way]: ids } }).then((told) => ({ ...told, runs: [] }));

export function DocumentSpaces({ ids, known, picked, onDone }) {
  const { list, now } = useSpaces();
  const { send, busy, report } = useBatch({ ids, known, picked, onDone: () => { learnSpaces(); onDone(); }, send: place });
  const own = list.filter(({ edits }) => edits);
  const [space, setSpace] = useState((own.find(({ id }) => id !== now?.id && id !== 0) ?? own[0])?.id ?? 0);
  const [way, setWay] = useState("add");
  const submit = (event) => {
    event.preventDefault();
    send({ space, way }, `${SAID[way]} ${own.find(({ id }) => id === space)?.name}`);
  };
  return html`<form class="form" onSubmit=${submit}>
    <label class="field">Space<select data-focus value=${space} onChange=${(event) => setSpace(Number(event.target.value))}>${own.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}</select></label>
    <fieldset class="choices"><legend class="unseen">What to do</legend>${Object.entries(WAYS).map(([value, text]) => html`<label key=${value}><input type="radio" name="way" checked=${way === value} onChange=${() => setWay(value)} /> ${text}</label>`)}</fieldset>
    <p class="hint">${MEANT[way]}</p>
    ${report}
    <div class="form-end"><${Button} onClick=${onDone}>Cancel</><button class="button main" disabled=${busy || !ids.length}><span>Save</span></button></div>
  </form>`;
}
