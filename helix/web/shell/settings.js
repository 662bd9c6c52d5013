// Settings of this browser, and the dialog that asks for an API key.
//
//   <${Settings} open=${b} onClose=${f} />     <${KeyWanted} />     shown where a key is asked for
import { Button, Dialog, Notice } from "../components.js";
import { html } from "../html.js";
import { chooseJudge, chooseTenant, session, useStore } from "../store.js";
import { useAbout } from "./about.js";
import { ACCOUNT } from "./header.js";
import { signInEverywhere, signOutEverywhere } from "./shared-key.js";
import { THEMES, useTheme } from "./theme-choice.js";

export function Settings({ open, onClose }) {
  const { tenant, key, judge } = useStore(session);
  const { auth } = useAbout();
  const [theme, chooseTheme] = useTheme();
  const save = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    if (form.has("tenant")) chooseTenant(String(form.get("tenant")).trim());
    chooseJudge(form.has("judge"));
    chooseTheme(form.get("theme"));
    onClose();
  };
  return html`<${Dialog} title="Settings" open=${open} onClose=${onClose}>
    <form class="form" onSubmit=${save}>
      ${key ? html`<${Key} onClose=${onClose} />`
        : auth === "accounts" ? html`<p><a href=${ACCOUNT}>Your account</a>: sessions, tokens, password, signing out.</p>`
        : html`<label class="field">Tenant
            <input name="tenant" value=${tenant} placeholder="default" autocomplete="off" pattern="[A-Za-z0-9][A-Za-z0-9_.@\\-]{0,99}" /></label>
            <p class="hint">The tenant whose documents you ask. Letters, digits and _ . @ -; empty means “default”.</p>`}
      <fieldset class="choices"><legend>Theme</legend>${Object.entries(THEMES).map(([value, name]) => html`<label key=${value}>
        <input type="radio" name="theme" value=${value} defaultChecked=${value === theme} /> ${name}</label>`)}</fieldset>
      <label class="check"><input type="checkbox" name="judge" defaultChecked=${judge} /> Judge every answer</label>
      <p class="hint">After each answer, the judge of this server checks that the sources support it.</p>
      <div class="form-end"><${Button} onClick=${onClose}>Cancel</><button class="button main"><span>Save</span></button></div>
    </form>
  </${Dialog}>`;
}

function Key({ onClose }) {
  const { tenant } = useAbout();
  const { kept } = useStore(session);
  const out = () => {
    signOutEverywhere();
    onClose();
  };
  return html`<p>Signed in with an API key${tenant && html` of the tenant <strong>${tenant}</strong>`}. ${kept
    ? "The key is stored on this device until you sign out."
    : "The key is forgotten when the last tab of this page is closed."}</p>
    <p><${Button} icon="key" onClick=${out}>Sign out</></p>`;
}

export function KeyWanted() {
  const { keyWanted } = useStore(session);
  const save = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const key = String(form.get("key")).trim();
    if (key) signInEverywhere(key, form.has("device"));
  };
  return html`<${Dialog} title="API key required" open=${keyWanted !== ""} onClose=${() => session.set({ keyWanted: "" })}>
    <form class="form" onSubmit=${save}>
      ${keyWanted !== "asked" && html`<${Notice} kind="error">${keyWanted}</>`}
      <p>This server requires an API key. Its operator creates one with <code>helix keys create</code>.</p>
      <label class="field">API key<input name="key" type="password" autocomplete="off" spellcheck=${false} placeholder="hx_…" required /></label>
      <label class="check"><input type="checkbox" name="device" /> Remember on this device</label>
      <p class="hint">It is sent to this server only. Unless remembered, it is forgotten when the last tab of this page is closed.</p>
      <div class="form-end"><button class="button main"><span>Continue</span></button></div>
    </form>
  </${Dialog}>`;
}
