// The people and groups that a space is given to.
//
//   <${Members} space=${one} owner=${true} />      owner: of the tenant, who makes editors too
import { Notice, toast } from "../components.js";
import { Failure, useData } from "../data.js";
import { html } from "../html.js";
import { learnSpaces } from "../shell/spaces.js";
import { Confirmed, useWork } from "../work.js";
import { Choice } from "./parts.js";
import { request } from "./requests.js";

const ROLES = ["reader", "editor"];
const nameOf = ({ kind, name, email }) => (kind === "groups" ? `${name} (group)` : name || email);

export function Members({ space, owner }) {
  const at = `/v1/spaces/${space.id}/members`;
  const { data, error, reload } = useData(() => request("GET", at), [at]);
  const work = useWork();
  const send = async (method, { kind, id }, body, said) => {
    await request(method, `${at}/${kind}/${id}`, body);
    await learnSpaces();
    reload();
    toast(said);
  };
  const put = (one, role, said) => work.run(() => send("PUT", one, { role }, said));
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return null;
  const mayChange = (one) => data.manages && (owner || one.role === "reader");
  return html`<section aria-labelledby="space-members"><h2 id="space-members">Members</h2>
    <p class="hint">${space.everyone ? "Everybody reads this space; what is given here is more than reading, or holds once not everybody does." : "Owners of the tenant read every space."} A reader reads; an editor adds, changes and removes its documents.</p>
    ${data.members.length === 0 && html`<p>No members yet.</p>`}
    <ul class="account-list">${data.members.map((one) => html`<li class="account-row" key=${`${one.kind} ${one.id}`}>
      <span>${nameOf(one)} ${one.name && one.email && html`<span class="hint">${one.email}</span>`}</span>
      ${mayChange(one) ? html`<span class="row-tools">${owner ? html`<${Choice} label=${`Role of ${nameOf(one)}`} value=${one.role} options=${ROLES} onChange=${(role) => put(one, role, "Saved")} />` : html`<span>${one.role}</span>`}
        <${Confirmed} title=${`Remove ${nameOf(one)} from ${space.name}?`} action="Remove" onConfirm=${() => send("DELETE", one, undefined, "Removed")} aria-label=${`Remove ${nameOf(one)}`}
          about="They keep what they may read here by other means: through a group, or because everybody may. You can add them again.">Remove</></span>` : html`<span>${one.role}</span>`}</li>`)}</ul>
    ${data.manages && html`<${Give} members=${data.members} owner=${owner} onGive=${(who, role) => put(who, role, "Added")} />`}
    ${work.error && html`<${Notice} kind="error">${work.error}</>`}</section>`;
}

function Give({ members, owner, onGive }) {
  const people = useData(() => request("GET", "/v1/members"), []);
  const groups = useData(() => request("GET", "/v1/groups"), []);
  const has = ({ kind, id }) => members.some((one) => one.kind === kind && one.id === id);
  const all = [
    ...(people.data?.members ?? []).filter(({ role }) => role !== "owner").map((one) => ({ ...one, kind: "people" })),
    ...(groups.data?.groups ?? []).map((one) => ({ ...one, kind: "groups" })),
  ].filter((one) => !has(one));
  const give = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const [kind, id] = form.get("who").split(" ");
    onGive({ kind, id }, form.get("role") ?? "reader");
  };
  if (!people.data || !groups.data) return null;
  if (!all.length) return html`<p class="hint">Everybody is a member already. ${owner ? "Invite people under People." : ""}</p>`;
  return html`<form class="people-form" onSubmit=${give}>
    <label class="field">Add<select name="who">${all.map((one) => html`<option key=${`${one.kind} ${one.id}`} value=${`${one.kind} ${one.id}`}>${nameOf(one)}</option>`)}</select></label>
    ${owner && html`<label class="field">Role<select name="role">${ROLES.map((role) => html`<option key=${role}>${role}</option>`)}</select></label>`}
    <button class="button main"><span>Add</span></button></form>`;
}
