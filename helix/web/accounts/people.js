// #/people: who belongs to the tenant, invitations, and groups. Members see who is there; owners change it.
import { Button, Notice, Spinner, toast } from "../components.js";
import { Failure, useData } from "../data.js";
import { html, useState } from "../html.js";
import { dateOf } from "../dates.js";
import { Confirmed, useWork } from "../work.js";
import { Choice, Secret, useSession } from "./parts.js";
import { Groups } from "./groups.js";
import { request } from "./requests.js";

const ROLES = ["reader", "editor", "owner"];
const nameOf = ({ name, email }) => name || email;

export default function People() {
  const session = useSession();
  const members = useData(() => request("GET", "/v1/members"), []);
  if (members.error) return html`<div class="page"><${Failure} error=${members.error} /></div>`;
  if (!session || !members.data) return html`<div class="page"><${Spinner} label="Loading" /></div>`;
  const owner = session.role === "owner";
  return html`<div class="page people"><h1>People</h1>
    <${Members} list=${members.data.members} me=${session.person.id} owner=${owner} onChange=${members.reload} />
    ${owner && html`<${Invitations} />`}
    <${Groups} people=${members.data.members} owner=${owner} /></div>`;
}

function Members({ list, me, owner, onChange }) {
  const { busy, error, run } = useWork();
  const [link, setLink] = useState(null);
  const change = (one, role) => run(async () => {
    await request("PATCH", `/v1/members/${one.id}`, { role }).finally(onChange);
    toast("Saved");
  });
  const remove = async ({ id }) => {
    await request("DELETE", `/v1/members/${id}`);
    onChange();
    toast("Removed");
  };
  const reset = (one) => run(async () => setLink({ ...(await request("POST", `/v1/members/${one.id}/link`)), to: nameOf(one) }));
  return html`<section aria-labelledby="members"><h2 id="members">Members</h2><p class="hint">A reader reads and asks. An editor adds, changes and removes documents too. An owner may do everything, and sees every space.</p>
    <ul class="account-list">${list.map((one) => html`<li class="account-row" key=${one.id}>
      <span>${nameOf(one)}${one.id === me ? " (you)" : ""} ${one.name && html`<span class="hint">${one.email}</span>`}${one.disabled && html` <span class="hint">disabled</span>`}</span>
      ${owner ? html`<span class="row-tools"><${Choice} label=${`Role of ${nameOf(one)}`} value=${one.role} options=${ROLES} onChange=${(role) => change(one, role)} />
        ${one.id !== me && html`<${Button} disabled=${busy} onClick=${() => reset(one)} aria-label=${`New password for ${nameOf(one)}`}>New password</>
        <${Confirmed} title=${`Remove ${nameOf(one)}?`} action="Remove" onConfirm=${() => remove(one)} aria-label=${`Remove ${nameOf(one)}`}
          about="They can no longer read or ask here, from now on. Their account stays, and you can invite them again.">Remove</>`}</span>` : html`<span>${one.role}</span>`}</li>`)}</ul>
    ${link && html`<${Secret} link=${link.link} about=${`For ${link.to}, to choose a new password. Good once, for a day. It is shown this once.`} />`}
    ${error && html`<${Notice} kind="error">${error}</>`}</section>`;
}

function Invitations() {
  const { data, error: failed, reload } = useData(() => request("GET", "/v1/invitations"), []);
  const { busy, error, on, run } = useWork();
  const [link, setLink] = useState(null);
  const invite = on(async (form, element) => {
    const email = form.get("email").trim();
    setLink({ ...(await request("POST", "/v1/invitations", { email, role: form.get("role") })), to: email });
    element.reset();
    reload();
  });
  const withdraw = (id) => run(async () => {
    await request("DELETE", `/v1/invitations/${id}`);
    setLink(null);
    reload();
  });
  if (failed) return html`<${Failure} error=${failed} />`;
  return html`<section aria-labelledby="invite"><h2 id="invite">Invite people</h2>
    <form class="people-form" onSubmit=${invite}><label class="field">E-mail address<input name="email" type="email" required autocomplete="off" /></label>
      <label class="field">Role<select name="role">${ROLES.map((role) => html`<option key=${role}>${role}</option>`)}</select></label>
      <button class="button main" disabled=${busy}><span>Create link</span></button></form>
    ${link && html`<${Secret} link=${link.link} about=${`For ${link.to}: send it as you like, Helix sends no mail. Good once, for a week. It is shown this once.`} />`}
    ${error && html`<${Notice} kind="error">${error}</>`}
    ${data?.invitations.length > 0 && html`<h3>Pending</h3><ul class="account-list">${data.invitations.map(({ id, email, role, expires_at: end }) => html`<li class="account-row" key=${id}>
      <span>${email || "By a link"} <span class="hint">${role}, until ${dateOf(end)}</span></span>
      <${Button} onClick=${() => withdraw(id)} aria-label=${`Revoke the invitation ${email ? `of ${email}` : "by a link"}`}>Revoke</></li>`)}</ul>`}</section>`;
}
