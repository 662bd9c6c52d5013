// The labels of a document: each leads to its collection; they are edited in place, all at once.
//
//   <${Labels} one=${document} onTags=${(tags) => …} />
import { Button, Icon, toast } from "../components.js";
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { address } from "../router.js";
import { library } from "./library-api.js";

export function Labels({ one, onTags }) {
  const [editing, setEditing] = useState(false);
  const opener = useRef(null);
  const edited = useRef(false);
  useLayoutEffect(() => { // the focus goes back to where editing was opened
    if (!editing && edited.current) opener.current.focus();
    edited.current = editing;
  }, [editing]);
  if (editing) return html`<${Editor} one=${one} onTags=${onTags} onClose=${() => setEditing(false)} />`;
  return html`<p class="labels">
    ${one.tags.map((tag) => html`<a key=${tag} class="label" href=${address("library", [], { tag })} title=${`Documents with the label ${tag}`}>${tag}</a>`)}
    <button ref=${opener} type="button" class="label-edit" onClick=${() => setEditing(true)} aria-label=${`${one.tags.length ? "Edit labels of" : "Label"} ${one.title}`}>
      <${Icon} name="label" /><span>${one.tags.length ? "Edit" : "Label"}</span></button></p>`;
}

function Editor({ one, onTags, onClose }) {
  const [busy, setBusy] = useState(false);
  const input = useRef(null);
  useLayoutEffect(() => input.current.focus(), []); // before the next key is pressed
  const save = async (event) => {
    event.preventDefault();
    const tags = labelsOf(input.current.value);
    setBusy(true);
    try {
      onTags((await library.tag(one.id, tags)).tags);
      onClose();
    } catch (error) {
      toast(error.message);
      setBusy(false);
    }
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    onClose();
  };
  return html`<form class="label-form" onSubmit=${save}>
    <input ref=${input} defaultValue=${one.tags.join(", ")} onKeyDown=${onKeyDown} aria-label=${`Labels of ${one.title}, separated by commas`} placeholder="travel, 2026" autocomplete="off" />
    <button class="button" disabled=${busy}><span>Save</span></button><${Button} onClick=${onClose}>Cancel</></form>`;
}

export function labelsOf(text) {
  return [...new Set(text.split(",").map((label) => label.trim().replace(/^#/, "")).filter(Boolean))];
}
