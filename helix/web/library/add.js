// Bring documents in: files dropped or chosen, a text, the address of a page, a whole site.
import { Button, Icon, Notice } from "../components.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { LINK, openDialog } from "./dialogs.js";
import { addFiles, addSamples } from "./intake.js";

const CAN_DROP = matchMedia("(any-hover: hover)").matches; // a phone drops nothing

export function Add({ tags, web: allowed, empty, space }) {
  const web = allowed !== false;
  const [error, setError] = useState("");
  const chooser = useRef(null);
  usePasted({
    onFiles: (files) => addFiles(files, { tags }),
    onText: (text) => openDialog("text", { text, tags }),
    onLink: (url) => web && openDialog("web", { url, tags }),
  });
  const samples = async () => {
    setError("");
    await addSamples().catch((problem) => setError(problem.message));
  };
  return html`<section class="add" aria-label="Add documents">
    <div class="drop">
      <span class="drop-icon"><${Icon} name="add" /></span>
      <p><strong>${CAN_DROP ? "Drop files or folders anywhere" : "Add documents"}</strong><span class="hint">PDF, Office, OpenDocument, CSV, Markdown, HTML, EPUB, mail, notebooks, text${tags.length ? `; they get the label “${tags[0]}”` : ""}</span></p>
      <div class="add-ways">
        <${Button} kind="main" onClick=${() => chooser.current.click()}>Choose files</>
        <${Button} onClick=${() => openDialog("text", { tags })}>Paste text</>
        ${web && html`<${Button} icon="web" onClick=${() => openDialog("web", { tags })}>From the web</>`}
      </div>
      <input ref=${chooser} class="unseen" type="file" multiple tabindex="-1" aria-label="Files to add"
        onChange=${(event) => { addFiles([...event.target.files], { tags }); event.target.value = ""; }} />
    </div>
    ${allowed === false && html`<p class="hint">This server does not import web pages.</p>`}
    ${empty && html`<${Notice} title=${space ? `${space.name} is empty.` : "The library is empty."}><p>A file that you add is read, split and stored on this server, and you can then ask it. Or start with seven documents that come with Helix: a report with tables, policies, a manual.</p>
      <${Button} kind="main" onClick=${samples}>Add the samples</></>`}
    ${error && html`<${Notice} kind="error" title="The samples could not be added."><p>${error}</p></>`}
  </section>`;
}

// What is pasted on this view: files are added; outside of a field a text or an address is shown first.
function usePasted({ onFiles, onText, onLink }) {
  useEffect(() => {
    const onPaste = (event) => {
      const { target, clipboardData } = event;
      if (event.defaultPrevented || target.closest?.("dialog")) return;
      const text = clipboardData.getData("text/plain").trim();
      if (clipboardData.files.length) onFiles([...clipboardData.files]); // which no field takes
      else if (target.closest?.("input, textarea, select")) return;
      else if (LINK.test(text)) onLink(text);
      else if (text) onText(text);
      else return;
      event.preventDefault();
    };
    document.addEventListener("paste", onPaste);
    return () => document.removeEventListener("paste", onPaste);
  });
}
