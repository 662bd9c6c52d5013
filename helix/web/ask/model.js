// Which model answers: its name above the question box, the menu of those that the server allows, and
// how to set up another. A choice is the conversation's.
//
//   <${ModelChoice} />      <${FirstRun} />    a card, where there is no model and nobody has said that none is wanted
//   useModel()              the model that answers the next question here: { name, title, images, quotes_only };
//                           null until the server told
import { call } from "../api.js";
import { Button, Dialog, toast } from "../components.js";
import { setModel, thread } from "../conversations/thread.js";
import { html, useEffect, useState } from "../html.js";
import { useAbout } from "../shell/about.js";
import { Menu } from "../shell/menu.js";
import { recall, remember, useStore } from "../store.js";

const SHOWN = 5; // models of a server

export function useModel() {
  const { models, model: usual } = useAbout();
  const { model: own } = useStore(thread);
  const named = (wanted) => (models ?? []).find(({ name }) => name === wanted);
  return named(own) ?? named(usual) ?? null;
}

export function ModelChoice() {
  const { models } = useAbout();
  const [open, setOpen] = useState(false);
  const now = useModel();
  if (!now) return null;
  const choose = (name) => setModel(name).catch((problem) => toast(problem.message));
  const items = models.map((one) => ({ name: one.title, icon: one === now ? "check" : "", checked: one === now, run: () => choose(one.name) }));
  return html`<div class="model"><${Menu} label=${now.title} about="Model" items=${[...items, null, { name: "Set up another model…", icon: "settings", run: () => setOpen(true) }]} />
    <${Dialog} title="Set up a model" open=${open} onClose=${() => setOpen(false)}><${Ways} /></></div>`;
}

export function FirstRun() {
  const { models, auth } = useAbout();
  const [done, setDone] = useState(recall("no-model", "localStorage") === "1");
  if (done || auth !== "off" || models?.length !== 1 || !models[0].quotes_only) return null;
  const goOn = () => {
    remember("no-model", "1", "localStorage");
    setDone(true);
  };
  return html`<section class="first-run" aria-labelledby="first-run"><h2 id="first-run">No model is set up</h2>
    <p class="hint">Answers are quotes of your documents, word for word. A language model understands more questions, and writes in its own words.</p>
    <${Ways}><${Button} onClick=${goOn}>Continue without a model</></></section>`;
}

// Keys are entered on the server alone: the page says where, and has no field for one.
function Ways({ children }) {
  return html`<p>There are three ways. Each is set on the server: in its <code>.env</code>, or in the file that <code>helix up</code> names. Restart the server afterwards.</p>
    <${Way} title="Gemini, with a key"><p>A key is free at aistudio.google.com/apikey. Your questions and the passages that answer them go to Google.</p>
      <pre>GEMINI_API_KEY=your key${"\n"}HELIX_LLM=gemini</pre></>
    <${Way} title="A model on this machine"><${Found} />
      <p>Any model as a GGUF file, by llama.cpp. Nothing leaves the machine.</p>
      <pre>pip install 'helix-answers[local]'${"\n"}helix model pull REPO${"\n"}HELIX_LLM=local:FILE.gguf</pre>
      <p>Or one that Ollama serves: <code>HELIX_LLM=ollama:MODEL</code>; any other server: <code>HELIX_LLM=server:MODEL</code>.</p></>
    <${Way} title="No model"><p>Answers are quotes, without a key and without a model.</p><pre>HELIX_LLM=offline</pre>${children}</>
    <p class="hint">Models listed in <code>HELIX_MODELS</code>, separated by commas, can be chosen here for each conversation.</p>`;
}

function Way({ title, children }) {
  const [open, setOpen] = useState(false);
  return html`<details class="way" name="way" onToggle=${(event) => setOpen(event.target.open)}><summary>${title}</summary>${open && children}</details>`;
}

// What answers beside this server already, looked for when it is asked about.
function Found() {
  const [servers, setServers] = useState([]);
  useEffect(() => {
    call("GET /v1/local-servers").then((found) => setServers(found.servers), () => {});
  }, []);
  return servers.map(({ title, models }) => html`<div key=${title}><p>${title} runs on this machine already. Start this server with one of its models:</p>
    <pre>${models.slice(0, SHOWN).map((model) => `helix up --model ${model}`).join("\n")}</pre></div>`);
}
