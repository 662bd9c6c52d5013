// One's account: the browsers that one is signed in with, passkeys, personal access tokens, the password.
import { forgetAll } from "../conversations/kept.js";
import { LANGUAGES, choose, chosen, dateOf } from "../dates.js";
import { add, supported, told } from "./passkeys.js";
import { request } from "./requests.js";

const SIGN_IN = "/web/sign-in.html";
const WORDS = { ask: "ask questions", read: "read documents", write: "change documents", admin: "look at the server" };
const part = (id) => document.getElementById(id);

part("out").addEventListener("click", () => attempt(async () => {
  const { next } = await request("DELETE", "/v1/session");
  forgetAll();
  location.replace(next ?? SIGN_IN);
}));

const named = new Intl.DisplayNames(undefined, { type: "language" });
part("dates").append(...LANGUAGES.map((one) => new Option(`${named.of(one)}: ${new Date().toLocaleDateString(one, { dateStyle: "long" })}`, one, false, one === chosen())));
part("dates").addEventListener("change", ({ target }) => {
  choose(target.value);
  attempt(load);
});

part("tenant").addEventListener("change", ({ target }) => attempt(async () => {
  await request("PATCH", "/v1/session", { tenant: target.value });
  await load();
}));

let shownToken; // until it is revoked

onSubmit("make", async (form) => {
  const scopes = [...form.querySelectorAll(":checked")].map(({ value }) => value);
  const { id, token } = await request("POST", "/v1/account/tokens", { name: form.elements.name.value, scopes });
  part("made").textContent = `Copy it now, it is shown only once: ${token}`;
  shownToken = id;
  form.reset();
  await listTokens();
});

onSubmit("add", async (form) => {
  await add(form.elements.name.value, form.elements.password.value);
  form.reset();
  await listPasskeys();
});

onSubmit("change", async (form) => {
  const { old, fresh } = form.elements;
  await request("PATCH", "/v1/account", { old_password: old.value, password: fresh.value });
  form.reset();
  part("changed").textContent = "Changed. You are signed out everywhere else.";
  await listSessions();
});

await attempt(load);
document.querySelector("main").hidden = false; // nothing is there to press before it works

async function load() {
  const { person, tenant, role, tenants, scopes } = await request("GET", "/v1/session");
  part("who").textContent = `${person.name || person.email}, ${role} of ${tenant}`;
  part("tenant").replaceChildren(...tenants.map((one) => new Option(one.tenant, one.tenant, false, one.tenant === tenant)));
  part("tenant-field").hidden = tenants.length < 2;
  part("scopes").replaceChildren(part("scopes").firstElementChild, ...scopes.map(choice));
  await Promise.all([listSessions(), listPasskeys(), listTokens()]);
}

function choice(scope) {
  const label = document.createElement("label");
  const box = Object.assign(document.createElement("input"), { type: "checkbox", value: scope, checked: scope === "ask" });
  label.append(box, ` ${WORDS[scope]}`);
  return label;
}

// "Firefox on Windows", of what a browser says of itself; the names stand in this order, for most say several.
function browserOf(client) {
  const first = (names) => names.find((name) => client.includes(name));
  const [name, system] = [first(["Firefox", "Edg", "Chrome", "Safari"]), first(["iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux"])];
  return name && system ? `${name === "Edg" ? "Edge" : name} on ${system}` : client || "A browser";
}

async function listSessions() {
  const { sessions } = await request("GET", "/v1/account/sessions");
  part("sessions").replaceChildren(...sessions.map((one) => row(
    `${browserOf(one.client)} · ${one.address} · ${dateOf(one.used_at)}`,
    one.current ? null : "Sign out there", () => `/v1/account/sessions/${one.id}`, listSessions, one.current && "This browser",
  )));
}

async function listPasskeys() {
  const { passkeys, available } = await request("GET", "/v1/account/passkeys");
  const adds = available && supported();
  part("add").hidden = !adds;
  part("passkeys-part").hidden = !adds && !passkeys.length;
  part("passkeys").replaceChildren(...passkeys.map((one) => {
    const used = one.used_at ? `last used ${dateOf(one.used_at)}` : "not used yet";
    const place = `/v1/account/passkeys/${one.id}`;
    const item = row(`Added ${dateOf(one.created_at)}, ${used}`, `Remove ${one.name}`, () => place, listPasskeys);
    item.prepend(nameOf(one, place));
    return item;
  }));
}

function nameOf({ name }, place) {
  const label = Object.assign(document.createElement("label"), { className: "field" });
  const field = Object.assign(document.createElement("input"), { value: name, maxLength: 100, autocomplete: "off" });
  label.append(Object.assign(document.createElement("span"), { textContent: "Name of the passkey" }), field);
  field.addEventListener("change", () => attempt(async () => {
    await request("PATCH", place, { name: field.value });
    await listPasskeys();
  }));
  return label;
}

async function listTokens() {
  const { tokens } = await request("GET", "/v1/account/tokens");
  part("made").hidden = !tokens.some(({ id }) => id === shownToken);
  part("tokens").replaceChildren(...tokens.map((one) => row(
    `${one.name} · ${one.hint}… · ${one.scopes.join(", ")}`, `Revoke ${one.name}`, () => `/v1/account/tokens/${one.id}`, listTokens,
  )));
}

function row(text, action, place, again, note = "") {
  const item = Object.assign(document.createElement("li"), { className: "account-row" });
  const words = Object.assign(document.createElement("span"), { textContent: text });
  item.append(words);
  if (note) item.append(Object.assign(document.createElement("strong"), { textContent: note }));
  if (action) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: action });
    button.addEventListener("click", once(async () => {
      if (!confirm(`${action}?`)) return; // none of it can be undone
      await request("DELETE", place());
      await again();
    }));
    item.append(button);
  }
  return item;
}

function onSubmit(id, work) {
  const send = once(() => work(part(id)));
  part(id).addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
}

// Nothing comes of a second press while the first is at work: it would make a token that nobody is shown.
function once(work) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    await attempt(work);
    busy = false;
  };
}

async function attempt(work) {
  part("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    if (error.status === 401) location.replace(`${SIGN_IN}?next=${encodeURIComponent(location.pathname)}`);
    part("problem").textContent = told(error);
    part("problem").hidden = false;
  }
}
