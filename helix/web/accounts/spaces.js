// #/spaces: the spaces that may be read; #/spaces/{id}: one of them, with who reads it, its documents, its
// model and style.
import { call } from "../api.js";
import { Button, Notice, Spinner, toast } from "../components.js";
import { html } from "../html.js";
import { address, go } from "../router.js";
import { useAbout } from "../shell/about.js";
import { enter, learnSpaces, useSpaces } from "../shell/spaces.js";
import { Confirmed, useWork } from "../work.js";
import { useSession } from "./parts.js";
import { Members } from "./space-members.js";

const documents = (n) => `${n.toLocaleString("en")} ${n === 1 ? "document" : "documents"}`;
const readBy = ({ everyone }) => (everyone ? "read by everybody" : "read by those it is given to");

export default function Spaces({ route }) {
  const { list } = useSpaces();
  const manages = useManages();
  const id = route.rest[0];
  const one = list?.find((each) => String(each.id) === id);
  if (list === null || manages === null) return html`<div class="page"><${Spinner} label="Loading" /></div>`;
  if (id === undefined) return html`<${Home} list=${list} manages=${manages} />`;
  if (!one) return html`<div class="page people"><${Notice} kind="error" title="There is no such space."><a href=${address("spaces")}>All spaces</a></></div>`;
  return html`<${Space} key=${one.id} one=${one} manages=${manages} />`;
}

// Owners make and change spaces; where nobody signs in, whoever is here.
function useManages() {
  const { auth } = useAbout();
  const session = useSession(auth === "accounts");
  if (auth === null) return null;
  return auth === "accounts" ? session && session.role === "owner" : true;
}

function ask(space) {
  enter(space);
  go(address("ask"));
}

function Home({ list, manages }) {
  const { busy, error, on } = useWork();
  const make = on(async (form) => {
    const { id } = await call("POST /v1/spaces", { body: { name: form.get("name").trim() } });
    await learnSpaces();
    go(address("spaces", [id]));
  });
  return html`<div class="page people"><h1>Spaces</h1>
    <p class="lead">A space is a set of documents that some may read: a project, a team, a notebook. A question asked in it is asked of them alone.</p>
    <ul class="account-list">${list.map((one) => html`<li class="account-row" key=${one.id}>
      <span><a href=${address("spaces", [one.id])}><strong>${one.name}</strong></a> <span class="hint">${documents(one.documents)}, ${readBy(one)}${one.edits ? "" : "; you read it"}</span></span>
      ${list.length > 1 && html`<${Button} icon="ask" onClick=${() => ask(one.id)}>Ask</>`}</li>`)}</ul>
    ${manages && html`<form class="people-form" onSubmit=${make}><label class="field">Name<input name="name" required maxlength="100" autocomplete="off" placeholder="Board" /></label>
      <button class="button main" disabled=${busy}><span>Create space</span></button></form>`}
    ${error && html`<${Notice} kind="error">${error}</>`}</div>`;
}

function Space({ one, manages }) {
  const { auth } = useAbout();
  const toLibrary = () => {
    enter(one.id);
    go(address("library"));
  };
  return html`<div class="page people"><p><a href=${address("spaces")}>All spaces</a></p><h1>${one.name}</h1>
    <section aria-labelledby="space-documents"><h2 id="space-documents">Documents</h2>
      <p>${documents(one.documents)}. ${one.edits ? "What is added while you are in this space stands in it. To put others here, select them in the library and choose Space." : "You read them; editors of the space change them."}</p>
      <${Button} icon="document" onClick=${toLibrary}>Open library</></section>
    ${auth === "accounts" && html`<${Members} space=${one} owner=${manages} />`}
    ${manages ? html`<${About} key=${JSON.stringify(one)} one=${one} />` : html`<${Told} one=${one} />`}
    ${manages && one.id !== 0 && html`<${Deletion} one=${one} />`}</div>`;
}

function Told({ one }) {
  const { models } = useAbout();
  const model = models?.find(({ name }) => name === one.model)?.title;
  return html`<section aria-labelledby="space-about"><h2 id="space-about">About</h2><p>${one.everyone ? "Everybody in the tenant reads it." : "It is read by those it is given to, and by owners."}${model ? ` ${model} answers in it.` : ""}</p>
    ${one.style && html`<p class="hint">Answers are written like this:</p><blockquote>${one.style}</blockquote>`}</section>`;
}

function About({ one }) {
  const { models, auth } = useAbout();
  const { busy, error, on } = useWork();
  const save = on(async (form) => {
    const body = { name: form.get("name").trim(), everyone: form.get("readers") === "everyone", model: form.get("model"), style: form.get("style").trim() };
    await call("PATCH /v1/spaces/{space_id}", { path: { space_id: one.id }, body });
    await learnSpaces();
    toast("Saved");
  });
  const known = (models ?? []).some(({ name }) => name === one.model) || !one.model ? models ?? [] : [...models, { name: one.model, title: `${one.model} (gone)` }];
  return html`<section aria-labelledby="space-about"><h2 id="space-about">About</h2><form class="form" onSubmit=${save}>
    <label class="field">Name<input name="name" required maxlength="100" autocomplete="off" defaultValue=${one.name} /></label>
    <fieldset class="choices" hidden=${auth !== "accounts"}><legend>Who reads it</legend>
      <label><input type="radio" name="readers" value="everyone" defaultChecked=${one.everyone} /> Everybody in the tenant</label>
      <label><input type="radio" name="readers" value="members" defaultChecked=${!one.everyone} /> Those it is given to, and owners</label></fieldset>
    <label class="field">Model that answers<select name="model" defaultValue=${one.model}><option value="" selected=${!one.model}>As elsewhere</option>${known.map(({ name, title }) => html`<option key=${name} value=${name} selected=${name === one.model}>${title}</option>`)}</select></label>
    <label class="field">Style of answers<textarea name="style" rows="3" maxlength="4000" defaultValue=${one.style} placeholder="Short sentences. Amounts in euros."></textarea></label>
    <p class="hint">Told to the model below the rules that keep answers to their sources.</p>
    ${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end"><button class="button main" disabled=${busy}><span>Save</span></button></div></form></section>`;
}

function Deletion({ one }) {
  const remove = async () => {
    await call("DELETE /v1/spaces/{space_id}", { path: { space_id: one.id } });
    await learnSpaces();
    toast("Deleted");
    go(address("spaces"), true);
  };
  return html`<p><${Confirmed} kind="danger" icon="bin" title=${`Delete ${one.name}?`} action="Delete" onConfirm=${remove}
    about="No document is deleted: each stays in its other spaces. One that stands in no other keeps the space from being deleted.">Delete space</></p>`;
}
