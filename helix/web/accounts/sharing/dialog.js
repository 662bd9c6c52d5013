// Whom an answer or a conversation is shared with: people, groups, everyone, and by public links.
//
//   <${ShareDialog} conversation=${id} message=${id or null} name=${title} onClose=${f} />
import { Button, Dialog, Spinner, copyText, toast } from "../../components.js";
import { Failure, useData } from "../../data.js";
import { dateOf, momentOf } from "../../dates.js";
import { html, useState } from "../../html.js";
import { address } from "../../router.js";
import { Confirmed, useWork } from "../../work.js";
import { request } from "../requests.js";

const MANY = 8; // people and groups from which on they are looked for by name
const LIVES = [1, 7, 30, 90, 365]; // days

export function ShareDialog({ conversation, message, name, onClose }) {
  const { data, error, put } = useData(() => load(conversation, message), []);
  const { known, share, days } = data ?? {};
  const took = (changed) => put({ ...data, share: changed });
  return html`<${Dialog} title=${message === null ? "Share this conversation" : "Share this answer"} open=${true} onClose=${onClose}>
    <p class="hint">${name}</p>
    ${error && html`<${Failure} error=${error} />`}
    ${!known && !error && html`<${Spinner} label="Loading" />`}
    ${known && html`<${Readers} key=${share?.id ?? "new"} known=${known} share=${share} conversation=${conversation} message=${message} onDone=${took} onClose=${onClose} />
      ${share && html`<${Inside} share=${share} onClose=${onClose} />`}
      ${message !== null && days > 0 && html`<${PublicLinks} share=${share} days=${days} conversation=${conversation} message=${message} onDone=${took} />`}`}
  </${Dialog}>`;
}

async function load(conversation, message) {
  const query = new URLSearchParams({ conversation_id: conversation, ...(message === null ? {} : { message_id: message }) });
  const [who, { members }, { groups }, { shares, public_link_days: days }] = await Promise.all([
    request("GET", "/v1/session"), request("GET", "/v1/members"), request("GET", "/v1/groups"), request("GET", `/v1/shares?${query}`),
  ]);
  const others = members.filter(({ id, disabled }) => id !== who.person.id && !disabled);
  const known = [
    ...groups.map(({ id, name, members: n }) => ({ kind: "groups", id, name, hint: `group of ${n}` })),
    ...others.map(({ id, name, email }) => ({ kind: "people", id, name: name || email, hint: name ? email : "" })),
  ];
  const share = shares.find(({ message_id: of }) => of === message) ?? null;
  const tenant = who.tenants.length > 1 ? who.tenant : ""; // whoever knows one alone knows no name of it
  return { known: { tenant, readers: known }, share, days };
}

const chosenOf = (share) => new Set([...(share?.groups ?? []).map(({ id }) => `groups ${id}`), ...(share?.people ?? []).map(({ id }) => `people ${id}`)]);

function Readers({ known, share, conversation, message, onDone, onClose }) {
  const [chosen, setChosen] = useState(chosenOf(share));
  const [everyone, setEveryone] = useState(share?.everyone ?? false);
  const [words, setWords] = useState(share?.words ?? false);
  const [wanted, setWanted] = useState("");
  const work = useWork();
  const idsOf = (kind) => [...chosen].filter((one) => one.startsWith(kind)).map((one) => Number(one.split(" ")[1]));
  const choose = (one, on) => setChosen((now) => {
    const next = new Set(now);
    next[on ? "add" : "delete"](`${one.kind} ${one.id}`);
    return next;
  });
  const save = work.on(async () => {
    const to = { people: idsOf("people"), groups: idsOf("groups"), everyone, words };
    onDone(share ? await request("PATCH", `/v1/shares/${share.id}`, to) : await make(conversation, message, to));
    toast(to.people.length || to.groups.length || everyone ? "Shared" : "Saved");
  });
  const stop = async () => {
    await request("DELETE", `/v1/shares/${share.id}`);
    toast("Not shared any more");
    onClose();
  };
  const shown = known.readers.filter(({ name, hint }) => `${name} ${hint}`.toLowerCase().includes(wanted.trim().toLowerCase()));
  return html`<form class="form" onSubmit=${save}>
    <${Check} on=${everyone} onChange=${setEveryone}>${known.tenant ? `Everyone in ${known.tenant}` : "Every member"}</>
    ${known.readers.length > MANY && html`<label class="field">Find people and groups <input value=${wanted} onInput=${(event) => setWanted(event.target.value)} autocomplete="off" /></label>`}
    ${known.readers.length > 0 && html`<fieldset class="choices" disabled=${everyone}><legend>People and groups</legend>
      <div role="group" aria-label="People and groups" tabindex=${shown.length > MANY ? 0 : undefined} style=${{ maxHeight: "13rem", overflowY: "auto", width: "100%" }}>
        ${shown.map((one) => html`<${Check} key=${`${one.kind} ${one.id}`} on=${chosen.has(`${one.kind} ${one.id}`)} onChange=${(on) => choose(one, on)}>${one.name} <span class="hint">${one.hint}</span></>`)}
        ${!shown.length && html`<p class="hint">Nobody is called that.</p>`}</div></fieldset>`}
    ${message === null && html`<p class="hint">What you ask in this conversation later is shared too.</p>`}
    <p class="hint">They see the sources that they may read themselves, and how many others there are. Where the answer has words of those others, they do not see its text.</p>
    <${Check} on=${words} onChange=${setWords}>Show the text of answers to all of them, without the sources they may not open</>
    ${work.error && html`<p class="notice error" role="alert">${work.error}</p>`}
    <div class="form-end">${share && html`<${Confirmed} kind="danger" disabled=${work.busy} title="Stop sharing this?" action="Stop sharing" onConfirm=${stop}
        about="Its readers lose it, and its comments and public links are deleted. This cannot be undone.">Stop sharing</>`}
      <button class="button main" disabled=${work.busy}><span>${share ? "Save" : "Share"}</span></button></div></form>`;
}

function Check({ on, onChange, children }) {
  return html`<label class="check"><input type="checkbox" checked=${on} onChange=${(event) => onChange(event.target.checked)} /><span>${children}</span></label>`;
}

const make = (conversation, message, to = {}) => request("POST", "/v1/shares", { conversation_id: conversation, message_id: message, ...to });

// The place where its readers see it, and its author their comments.
function Inside({ share, onClose }) {
  const place = address("shared", [share.id]);
  const copy = async () => toast((await copyText(new URL(place, location.href).href)) ? "Link copied" : "The link could not be copied");
  const said = { 0: "see what is shared", 1: "see it, and one comment" }[share.comments] ?? `see it, and ${share.comments} comments`;
  return html`<p class="form-end"><a class="button" href=${place} onClick=${onClose}>Open: ${said}</a><${Button} icon="link" onClick=${copy}>Copy a link for them</></p>`;
}

function PublicLinks({ share, days, conversation, message, onDone }) {
  const lives = [...new Set([...LIVES.filter((life) => life < days), days])];
  const [life, setLife] = useState(lives.includes(7) ? 7 : lives[0]);
  const [made, setMade] = useState("");
  const { busy, error, run } = useWork();
  const again = async (id) => {
    const query = new URLSearchParams({ conversation_id: conversation, message_id: message });
    onDone((await request("GET", `/v1/shares?${query}`)).shares.find((one) => one.id === id));
  };
  const add = () => run(async () => {
    const { id } = share ?? await make(conversation, message);
    const { link } = await request("POST", `/v1/shares/${id}/links`, { days: life });
    setMade(link);
    await again(id);
  });
  const takeBack = (link) => run(async () => {
    await request("DELETE", `/v1/shares/${share.id}/links/${link}`);
    setMade("");
    await again(share.id);
  });
  return html`<section class="form" aria-labelledby="public-links"><h3 id="public-links">Public link</h3>
    <p class="hint">Whoever has it reads the question and the answer’s text, without an account and without any source.</p>
    <ul class="ways-out">${(share?.links ?? []).map(({ id, expires_at: ends }) => html`<li key=${id}>Good until ${dateOf(ends)}
      ${" "}<button type="button" class="text-button" disabled=${busy} onClick=${() => takeBack(id)}>Revoke<span class="unseen"> the link that is good until ${momentOf(ends)}</span></button></li>`)}</ul>
    ${made && html`<label class="field">The link, shown this once<input readonly value=${made} onFocus=${(event) => event.target.select()} /></label>
      <p class="form-end"><${Button} icon="copy" onClick=${async () => toast((await copyText(made)) ? "Link copied" : "It could not be copied")}>Copy the public link</></p>`}
    ${error && html`<p class="notice error" role="alert">${error}</p>`}
    <div class="form-end"><label class="unseen" for="public-life">How long the link is good</label>
      <select id="public-life" class="button" value=${life} onChange=${(event) => setLife(Number(event.target.value))}>${lives.map((one) => html`<option key=${one} value=${one}>${one === 1 ? "For a day" : `For ${one} days`}</option>`)}</select>
      <${Button} icon="link" disabled=${busy} onClick=${add}>Make a public link</></div></section>`;
}
