// Groups of the tenant's members: made by hand, or by a provider's claim, which is the provider's to change.
//
//   <${Groups} people=${members} owner=${true} />
import { Notice, toast } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useState } from "../html.js";
import { Confirmed, useWork } from "../work.js";
import { request } from "./requests.js";

const nameOf = ({ name, email }) => name || email;

export function Groups({ people, owner }) {
  const { data, error, reload } = useData(() => request("GET", "/v1/groups"), []);
  const work = useWork();
  const make = work.on(async (form, element) => {
    await request("POST", "/v1/groups", { name: form.get("name").trim() });
    element.reset();
    reload();
  });
  if (error) return html`<${Failure} error=${error} />`;
  if (!data || (!owner && !data.groups.length)) return null;
  return html`<section aria-labelledby="groups"><h2 id="groups">Groups</h2><p class="hint">A space can be given to a group at once.</p>
    ${data.groups.map((one) => html`<${Group} key=${one.id} one=${one} people=${people} owner=${owner && one.source === "local"} onChange=${reload} />`)}
    ${owner && html`<form class="people-form" onSubmit=${make}><label class="field">Group name<input name="name" required maxlength="100" autocomplete="off" /></label>
      <button class="button" disabled=${work.busy}><span>Create group</span></button></form>`}
    ${work.error && html`<${Notice} kind="error">${work.error}</>`}</section>`;
}

function Group({ one, people, owner, onChange }) {
  const [open, setOpen] = useState(false);
  return html`<details class="group" onToggle=${(event) => setOpen(event.target.open)}><summary>${one.name} <span class="hint">${one.members} ${one.members === 1 ? "member" : "members"}${one.source === "local" ? "" : `, by ${one.source}`}</span></summary>
    ${open && html`<${Inside} one=${one} people=${people} owner=${owner} onChange=${onChange} />`}</details>`;
}

function Inside({ one, people, owner, onChange }) {
  const at = `/v1/groups/${one.id}`;
  const { data, reload } = useData(() => request("GET", `${at}/members`), [at]);
  const { error, on } = useWork();
  const change = async (method, id) => {
    await request(method, `${at}/members/${id}`);
    reload();
    onChange();
  };
  const remove = async () => {
    await request("DELETE", at);
    toast("Deleted");
    onChange();
  };
  const inside = data?.members ?? [];
  const others = people.filter(({ id }) => !inside.some((each) => each.id === id));
  return html`<ul class="account-list">${inside.map((each) => html`<li class="account-row" key=${each.id}><span>${nameOf(each)} ${each.name && html`<span class="hint">${each.email}</span>`}</span>
      ${owner && html`<${Confirmed} title=${`Remove ${nameOf(each)} from ${one.name}?`} action="Remove" onConfirm=${() => change("DELETE", each.id)} aria-label=${`Remove ${nameOf(each)} from ${one.name}`}
        about="They lose what was given to them through this group. You can add them again.">Remove</>`}</li>`)}</ul>
    ${owner && others.length > 0 && html`<form class="people-form" onSubmit=${on((form) => change("PUT", form.get("who")))}>
      <label class="field">Person<select name="who">${others.map((each) => html`<option key=${each.id} value=${each.id}>${nameOf(each)}</option>`)}</select></label><button class="button"><span>Add</span></button></form>`}
    ${owner && html`<p><${Confirmed} kind="danger" icon="bin" title=${`Delete ${one.name}?`} action="Delete" onConfirm=${remove}
      about="Its members lose the spaces, answers and conversations that were given to them through it. This cannot be undone.">Delete group</></p>`}
    ${error && html`<${Notice} kind="error">${error}</>`}`;
}
