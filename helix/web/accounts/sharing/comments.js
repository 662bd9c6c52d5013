// The comments on one shared answer, and the box for another.
//
//   <${Comments} share=${id} message=${id} list=${comments} onChanged=${async () => …} />
import { Button, announce, toast } from "../../components.js";
import { momentOf } from "../../dates.js";
import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { request } from "../requests.js";

const LONGEST = 4000;

export function Comments({ share, message, list, onChanged }) {
  const [editing, setEditing] = useState(null);
  const [writing, setWriting] = useState(false);
  const heading = useRef(null);
  const place = `/v1/shared/${encodeURIComponent(share)}/comments`;
  const done = async (said) => {
    setEditing(null);
    await onChanged();
    announce(said);
  };
  const add = async (text) => {
    await request("POST", place, { message_id: message, text });
    setWriting(false);
    await done("Comment added");
    heading.current?.focus();
  };
  const edit = async (id, text) => {
    await request("PATCH", `${place}/${id}`, { text });
    await done("Comment changed");
    heading.current?.focus();
  };
  const remove = async (id) => {
    try {
      await request("DELETE", `${place}/${id}`);
      await done("Comment deleted");
    } catch (error) {
      toast(error.message);
    }
    heading.current?.focus();
  };
  return html`<section class="comments" aria-label="Comments">
    <h3 ref=${heading} tabindex="-1" class=${list.length ? "" : "unseen"}>${list.length ? `Comments (${list.length})` : "Comments"}</h3>
    <ul>${list.map((one) => html`<li key=${one.id}>
      <p class="hint"><strong>${one.author}</strong> · ${momentOf(one.created_at)}${one.edited_at ? " · edited" : ""}</p>
      ${editing === one.id ? html`<${Box} label="Change your comment" text=${one.text} send="Save" onSend=${(text) => edit(one.id, text)} onLeave=${() => setEditing(null)} />`
        : html`<p class="comment-text">${one.text}</p>
          <p>${one.mine && html`<button type="button" class="text-button" onClick=${() => setEditing(one.id)}>Edit<span class="unseen"> your comment</span></button>`}
          ${" "}${one.removable && html`<button type="button" class="text-button" onClick=${() => remove(one.id)}>Delete<span class="unseen"> the comment of ${one.author}</span></button>`}</p>`}</li>`)}</ul>
    ${writing ? html`<${Box} label="Write a comment" send="Comment" onSend=${add} onLeave=${() => setWriting(false)} />`
      : html`<button type="button" class="text-button" onClick=${() => setWriting(true)}>Comment on this answer</button>`}</section>`;
}

// Mod+Enter sends, Escape leaves.
function Box({ label, text = "", send, onSend, onLeave }) {
  const [error, setError] = useState("");
  const field = useRef(null);
  useLayoutEffect(() => { field.current.focus(); }, []);
  const submit = async (event) => {
    event.preventDefault();
    const written = field.current.value.trim();
    if (!written) return;
    try {
      await onSend(written);
    } catch (problem) {
      setError(problem.message);
    }
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
    if (event.key !== "Escape") return;
    event.preventDefault(); // it closes nothing else
    onLeave();
  };
  return html`<form class="form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <label class="field">${label}<textarea ref=${field} rows="2" maxlength=${LONGEST} defaultValue=${text}></textarea></label>
    ${error && html`<p class="notice error" role="alert">${error}</p>`}
    <div class="form-end"><${Button} onClick=${onLeave}>Cancel</><button class="button"><span>${send}</span></button></div></form>`;
}
