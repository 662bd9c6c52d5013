// Signing in, by a password or a passkey, and what a link opens: an account, or a new password for one. The secret
// of a link stands behind the # of the address, which reaches no server, and leaves it at once.
import { offersQuietly, signIn, supported, told } from "./passkeys.js";
import { nextOf, request } from "./requests.js";

const part = (id) => document.getElementById(id);
const form = part("form");
const { email, name, password } = form.elements;
const RENEWAL = 9 * 60_000; // a challenge ends after ten minutes
let asked = new AbortController();
let renewal;
const link = new URLSearchParams(location.hash.slice(1)).get("link");

part("passkey").addEventListener("click", () => attempt(() => usePasskey(false), offerQuietly));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await attempt(async () => {
    const given = { email: email.value, password: password.value };
    if (link) await request("POST", "/v1/links/use", { link, name: name.value, ...given });
    else await request("POST", "/v1/session", given);
    location.replace(nextOf(location));
  });
});

if (link) {
  history.replaceState(null, "", location.pathname + location.search);
  await show(link);
} else {
  await offerProviders();
  if (document.activeElement === document.body) email.focus();
}

async function show(secret) {
  title("Choose a password");
  await attempt(async () => {
    const purpose = await request("POST", "/v1/links/look", { link: secret });
    tell(purpose.resets ? `For ${purpose.email}. It has 10 characters or more. Sessions and passkeys of the account end.` : `An account ${purpose.tenant === "default" ? "on this server" : `for ${purpose.tenant}`}, as ${purpose.role}. Its password has 10 characters or more.`);
    email.value = purpose.email || email.value;
    email.readOnly = purpose.email !== "";
    part("name-field").hidden = purpose.resets;
    password.autocomplete = "new-password";
    password.minLength = 10;
    form.querySelector("button").textContent = "Continue";
    if (document.activeElement === document.body) (purpose.email ? password : email).focus();
  }, () => (form.hidden = true));
}

// Whoever has typed their password before the server answers need not wait for that.
async function offerProviders() {
  try {
    const { password: own, passkeys, providers = [] } = await request("GET", "/v1/sign-in");
    form.hidden = !own;
    part("passkey").hidden = !(passkeys && supported());
    offerQuietly();
    part("providers").hidden = !providers.length;
    const next = encodeURIComponent(nextOf(location));
    for (const provider of providers) {
      const button = document.createElement("a");
      button.className = "button";
      button.href = `/v1/sign-in/${encodeURIComponent(provider.name)}?next=${next}`;
      button.textContent = `Continue with ${provider.title}`;
      part("providers").append(button);
    }
    const refused = new URLSearchParams(location.search).get("problem");
    if (refused) problem("Signing in there did not succeed. Try again, or ask whoever keeps the server.");
  } catch (error) {
    problem(told(error));
  }
}

async function usePasskey(quietly) {
  clearTimeout(renewal);
  asked.abort();
  asked = new AbortController();
  await signIn({ signal: asked.signal, quietly });
  location.replace(nextOf(location));
}

// Among the addresses that the browser fills in. A refusal is said.
async function offerQuietly() {
  if (part("passkey").hidden || !(await offersQuietly())) return;
  try {
    const signedIn = usePasskey(true);
    renewal = setTimeout(offerQuietly, RENEWAL);
    await signedIn;
  } catch (error) {
    if (error.status === 401) problem(error.message);
  }
}

async function attempt(work, otherwise = () => {}) {
  const button = form.querySelector("button");
  button.disabled = true;
  part("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    problem(told(error));
    otherwise();
  } finally {
    button.disabled = false;
  }
}

function problem(text) {
  part("problem").textContent = text;
  part("problem").hidden = text === "";
}

function title(text) {
  part("title").textContent = text;
  document.title = `${text} – Helix`;
}

function tell(text) {
  part("about").textContent = text;
  part("about").hidden = false;
}
