// The original of a document: opened in a new tab where a browser can show it, else saved. A page of
// the web opens where it is.
//
//   <${Original} one=${document} />              nothing where it is not kept
import { Icon, toast } from "../components.js";
import { handOut } from "../file.js";
import { html } from "../html.js";
import { fileOf } from "../reader/documents.js";
import { session, useStore } from "../store.js";
import { library } from "./library-api.js";
import { isWeb } from "../text.js";

const SHOWN = new Set(["pdf", "text", "markdown", "csv", "html"]);

export function Original({ one }) {
  const { key } = useStore(session);
  const label = `Open the original of ${one.title}`;
  if (!one.file && isWeb(one.source_uri)) {
    return html`<a class="icon-button" href=${one.source_uri} target="_blank" rel="noopener noreferrer" aria-label=${label} title="Open the page on the web"><${Icon} name="web" /></a>`;
  }
  if (!one.file) return null;
  const shown = SHOWN.has(one.media);
  const open = (event) => {
    if (!key) return; // the link does it; a key cannot go with one
    event.preventDefault();
    opened(one, shown);
  };
  return html`<a class="icon-button" href=${library.original(one.id)} target=${shown ? "_blank" : undefined} download=${shown ? undefined : one.file_name || true}
    rel="noopener" aria-label=${label} title=${shown ? "Open the original" : "Download the original"} onClick=${open}><${Icon} name=${shown ? "open" : "down-file"} /></a>`;
}

// A blob is of this page's own origin: nothing in it may run, so what is no PDF is plain text.
async function opened(one, shown) {
  try {
    const bytes = await fileOf(one.id);
    const blob = shown && one.media !== "pdf" ? new Blob([bytes], { type: "text/plain;charset=utf-8" }) : bytes;
    handOut(blob, shown ? { target: "_blank" } : { download: one.file_name || one.title });
  } catch (error) {
    toast(error.message);
  }
}
