// Over every view: files that are let go of anywhere are added to the library, and while they are
// held an overlay says so. Beside other views a tray says how far they are. The question box takes
// its own drops: an event that it has handled, or that is over it, is left alone.
import { Icon, toast } from "../components.js";
import { html, render, useEffect, useRef, useState } from "../html.js";
import { useRoute } from "../router.js";
import { useCommands } from "../shell/commands.js";
import { AddDialogs, LINK, openDialog } from "./dialogs.js";
import { filesOf } from "./drop.js";
import { addFiles, addWeb } from "./intake.js";
import { useLive } from "./live.js";
import { Tray } from "./tray.js";
import { useAbout } from "../shell/about.js";

const ASKING = ["ask", "c"];
const HAVE_IT = new Set([...ASKING, "library"]); // show themselves what is brought in

function Anywhere() {
  const route = useRoute();
  useLive(useAbout().auth === "accounts"); // what may be read can change wherever one is
  const tag = route.name === "library" ? route.query.tag : "";
  const tags = tag ? [tag] : [];
  const held = useDrops(tags);
  const chooser = useRef(null);
  useCommands([
    { id: "add files", name: "Add files to the library", hint: "upload pdf document", run: () => chooser.current.click() },
    { id: "paste text", name: "Paste text into the library", hint: "add note", run: () => openDialog("text", { tags }) },
    { id: "from the web", name: "Add a web page, or crawl a site", hint: "url address import", run: () => openDialog("web", { tags }) },
  ]);
  return html`<input ref=${chooser} class="unseen" type="file" multiple tabindex="-1" aria-hidden="true"
      onChange=${(event) => { addFiles([...event.target.files], { tags }); event.target.value = ""; }} />
    <${AddDialogs} />${held && html`<${Overlay} held=${held} tag=${tag} asking=${ASKING.includes(route.name)} />`}${!HAVE_IT.has(route.name) && html`<${Tray} />`}`;
}

function Overlay({ held: { files, box }, tag, asking }) {
  if (box) return null;
  const what = files ? files > 1 ? `${files} items` : "this" : "this page";
  return html`<div class="overlay" aria-hidden="true"><p><${Icon} name="add" /><strong>Drop to add ${what} to the library</strong>
    <span>${files ? `They are stored on this server and read.${asking ? " Over the question box, they are attached to the conversation only." : ""}` : "The page is fetched by this server and read."}${tag ? ` It gets the label “${tag}”.` : ""}</span></p></div>`;
}

const carries = (transfer, kind) => transfer?.types.includes(kind);
const ofOurs = (transfer) => carries(transfer, "Files") || carries(transfer, "text/uri-list");
const inBox = (target) => target instanceof Element && target.closest(".composer") !== null;

// What is held over the page: { files, box } or null.
function useDrops(tags) {
  const [held, setHeld] = useState(null);
  const dragged = useRef(false); // from this page itself, such as a link of it
  useEffect(() => {
    const over = (event) => {
      if (dragged.current || !ofOurs(event.dataTransfer) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      const items = [...event.dataTransfer.items].filter(({ kind }) => kind === "file");
      const files = items.length;
      const box = inBox(event.target) && files > 0;
      setHeld((now) => (now?.files === files && now.box === box ? now : { files, box }));
    };
    const leave = (event) => event.relatedTarget === null && setHeld(null);
    const begin = () => { dragged.current = true; };
    const end = () => { dragged.current = false; setHeld(null); };
    const drop = (event) => {
      setHeld(null);
      const own = dragged.current;
      dragged.current = false;
      if (own || event.defaultPrevented || !ofOurs(event.dataTransfer) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      take(event.dataTransfer, tags);
    };
    const listeners = { dragenter: over, dragover: over, dragleave: leave, dragstart: begin, dragend: end, drop };
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener);
    return () => { for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener); };
  }, [tags.join()]);
  return held;
}

async function take(transfer, tags) {
  const url = transfer.getData("text/uri-list").split("\n")[0].trim();
  const files = await filesOf(transfer);
  try {
    if (files.length) await addFiles(files, { tags });
    else if (LINK.test(url)) await addWeb({ url, tags });
  } catch (error) {
    toast(error.message);
  }
}

const root = document.createElement("div");
document.body.append(root);
render(html`<${Anywhere} />`, root);
