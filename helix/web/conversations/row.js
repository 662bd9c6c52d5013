// One conversation of the list: its name is a link to it, and is edited in place.
//
//   <${Row} one=${conversation} isOpen=${b} onRemove=${f} />
import { useSharing } from "../accounts/sharing/use-sharing.js";
import { api } from "../api.js";
import { IconButton, toast } from "../components.js";
import { fileName, handOut } from "../file.js";
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { address } from "../router.js";
import { rename } from "./list.js";

export function Row({ one, isOpen, onRemove }) {
  const [naming, setNaming] = useState(false);
  const link = useRef(null);
  const name = one.title || "Untitled";
  const sharing = useSharing({ conversation: one.id, name });
  const done = () => setNaming(false);
  // once it is named, the focus comes back, unless it has gone elsewhere
  useLayoutEffect(() => naming && (() => document.activeElement === document.body && link.current?.focus()), [naming]);
  const onKeyDown = (event) => {
    const act = { F2: () => setNaming(true), Delete: onRemove }[event.key];
    if (!act || event.target !== link.current) return;
    event.preventDefault();
    act();
  };
  if (naming) return html`<li class="row naming"><${Naming} one=${one} onDone=${done} /></li>`;
  return html`<li class=${isOpen ? "row open" : "row"} onKeyDown=${onKeyDown}>
    <a ref=${link} class="row-link" href=${address("c", [one.id])} aria-current=${isOpen ? "page" : undefined} title=${name}>${name}</a>
    ${one.answering !== null && html`<span class="row-busy" title="Being answered"><span class="unseen">Being answered</span></span>`}
    <span class="row-tools">
      <${IconButton} icon="edit" label=${`Rename ${name}`} onClick=${() => setNaming(true)} />
      ${sharing.may && html`<${IconButton} icon="share" label=${`Share ${name}`} onClick=${sharing.open} />`}
      <${IconButton} icon="down-file" label=${`Save ${name} as Markdown`} onClick=${() => save(one, "markdown", "md")} />
      <${IconButton} icon="document" label=${`Save ${name} as a Word document`} onClick=${() => save(one, "docx", "docx")} />
      <${IconButton} icon="bin" label=${`Delete ${name}`} onClick=${onRemove} />
    </span>${sharing.dialog}</li>`;
}

function Naming({ one, onDone }) {
  const field = useRef(null);
  const over = useRef(false); // leaving the field saves too, but once
  useLayoutEffect(() => field.current.select(), []); // before the next key
  const submit = async (event) => {
    event.preventDefault();
    if (over.current) return;
    over.current = true;
    const title = field.current.value.trim();
    try {
      if (title && title !== one.title) await rename(one.id, title);
      onDone();
    } catch (error) {
      over.current = false;
      toast(error.message);
    }
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    over.current = true;
    onDone();
  };
  return html`<form onSubmit=${submit} onKeyDown=${onKeyDown}><label class="unseen" for="conversation-name">Name of the conversation</label>
    <input id="conversation-name" ref=${field} defaultValue=${one.title} maxlength="200" autocomplete="off" onBlur=${submit} /></form>`;
}

async function save({ id, title }, format, ending) {
  try {
    handOut(await (await api.export(id, format)).blob(), { download: fileName(title, ending) });
  } catch (error) {
    toast(error.message);
  }
}
