// The documents attached to the conversation, above the question box, and the button that adds some.
import { FileButton, Icon, IconButton, toast } from "../components.js";
import { html } from "../html.js";
import { mayEdit, useSpaces } from "../shell/spaces.js";
import { detach, refuse, toLibrary, useAttached } from "./attached.js";

export function Attachments({ conversation }) {
  const { documents, sending, refused } = useAttached(conversation);
  if (!documents.length && !sending && !refused) return null;
  return html`<div class="attachments">
    <ul aria-label="Documents attached to this conversation">${documents.map((one) => html`<${Attached} key=${one.id} one=${one} />`)}
      ${sending > 0 && html`<li class="attached" key="sending"><span class="hint">Uploading ${sending === 1 ? "a file" : `${sending} files`}…</span></li>`}</ul>
    ${refused && html`<p class="reason" role="alert"><span>${refused}</span> <button type="button" class="text-button" onClick=${() => refuse(conversation, "")}>Dismiss</button></p>`}
  </div>`;
}

const STATES = { queued: "waiting", failed: "could not be read" };

function Attached({ one: { id, title, status, error } }) {
  const edits = mayEdit(useSpaces());
  const act = (work) => () => work(id).catch((problem) => toast(problem.message));
  const state = status === "ready" ? "" : STATES[status] ?? "processing";
  return html`<li class="attached"><${Icon} name="document" /><span class="attached-name" title=${error || title}>${title}</span>
    ${state && html`<span class="hint" role="status">${state}</span>`}
    ${status === "ready" && edits && html`<${IconButton} icon="add" label=${`Add ${title} to the library`} onClick=${act(toLibrary)} />`}
    <${IconButton} icon="close" label=${`Remove ${title} from the conversation`} onClick=${act(detach)} /></li>`;
}

export function AttachButton({ onPick }) {
  return html`<${FileButton} icon="clip" label="Attach documents to this conversation" field="Documents for this conversation"
    multiple=${true} onPick=${onPick} />`;
}
