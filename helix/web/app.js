// The shell: header and navigation, the view that the address names, key and settings, the theme.
import { html, render, useEffect, useState } from "./html.js";
import { Announcements, Button, Dialog, IconButton, Notice, Spinner } from "./components.js";
import { address, useRoute } from "./router.js";
import {
  chooseJudge, chooseTenant, recall, remember, session, signIn, useStore,
} from "./store.js";
import { VIEWS } from "./views/index.js";

const THEMES = { "": "system", light: "sun", dark: "moon" };

function App() {
  const route = useRoute();
  const [settings, setSettings] = useState(false);
  const { tenant, key } = useStore(session);
  // another tenant or key: another library, so everything is drawn and asked for anew
  return html`<${Header} route=${route} onSettings=${() => setSettings(true)} />
    <main id="main" tabindex="-1"><${View} key=${`${route.name} ${tenant} ${key}`} route=${route} /></main>
    <${Settings} open=${settings} onClose=${() => setSettings(false)} />
    <${KeyWanted} />
    <${Announcements} />`;
}

function Header({ route, onSettings }) {
  const shown = VIEWS.filter((view) => view.label);
  const toMain = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  return html`<header class="top">
    <a class="skip" href="#main" onClick=${toMain}>Skip to the content</a>
    <a class="brand" href=${address("ask")} aria-label="Helix, to the start"><img src="/web/icon.svg" alt="" width="24" height="24" />Helix</a>
    <nav aria-label="Views">${shown.length > 1 && shown.map((view) => html`<a
      href=${address(view.name)} aria-current=${route.name === view.name ? "page" : undefined}>${view.label}</a>`)}</nav>
    <div class="top-tools"><${Theme} /><${IconButton} icon="settings" label="Settings" onClick=${onSettings} /></div>
  </header>`;
}

function Theme() {
  const [theme, setTheme] = useState(recall("theme", "localStorage") || "");
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(theme) + 1) % names.length];
  const choose = () => {
    remember("theme", next, "localStorage");
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    setTheme(next);
  };
  const label = `Theme: ${theme || "as the system"}. Change to ${next || "as the system"}`;
  return html`<${IconButton} icon=${THEMES[theme]} label=${label} onClick=${choose} />`;
}

function View({ route }) {
  const [loaded, setLoaded] = useState(null);
  const view = VIEWS.find(({ name }) => name === route.name);
  useEffect(() => {
    let here = true;
    document.title = view?.label && view.name !== "ask" ? `${view.label} · Helix` : "Helix";
    if (!view) return undefined;
    Promise.all([view.load(), ...(view.styles || []).map(loadStyles)])
      .then(([module]) => here && setLoaded({ component: module.default }))
      .catch(() => here && setLoaded({ failed: true }));
    return () => { here = false; };
  }, [view]);
  if (!view) return html`<div class="page"><${Notice} kind="error" title="There is no such page."><a href=${address("ask")}>To the start</a></></div>`;
  if (!loaded) return html`<div class="page"><${Spinner} label="Loading" /></div>`;
  if (loaded.failed) return html`<div class="page"><${Notice} kind="error" title="This part of the page did not load."><${Button} onClick=${() => location.reload()}>Load again</></></div>`;
  return html`<${loaded.component} route=${route} />`;
}

function loadStyles(name) {
  const href = `/web/styles/${name}`;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = resolve;
    link.onerror = reject;
    document.head.append(link);
  });
}

function Settings({ open, onClose }) {
  const { tenant, key, judge } = useStore(session);
  const save = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    if (!key) chooseTenant(String(form.get("tenant")).trim());
    chooseJudge(form.has("judge"));
    onClose();
  };
  return html`<${Dialog} title="Settings" open=${open} onClose=${onClose}>
    <form class="form" onSubmit=${save}>
      ${key
        ? html`<p>An API key is in use. It says whose documents you see, and is forgotten with this tab.</p>
            <p><${Button} onClick=${() => { signIn(""); onClose(); }}>Forget the key</></p>`
        : html`<label class="field">Tenant
            <input name="tenant" value=${tenant} placeholder="default" autocomplete="off" pattern="[A-Za-z0-9][A-Za-z0-9_.@\\-]{0,99}" /></label>
            <p class="hint">Whose documents to ask. Letters, digits and _ . @ -; empty is “default”.</p>`}
      <label class="check"><input type="checkbox" name="judge" checked=${judge} /> Have every answer judged by a second pass</label>
      <p class="hint">A verdict on whether the sources bear the answer out. It takes a second call to the model.</p>
      <div class="form-end"><button class="button main"><span>Save</span></button></div>
    </form>
  </${Dialog}>`;
}

function KeyWanted() {
  const { keyWanted } = useStore(session);
  const save = (event) => {
    event.preventDefault();
    const key = String(new FormData(event.target).get("key")).trim();
    if (key) signIn(key);
  };
  return html`<${Dialog} title="An API key is needed" open=${keyWanted !== ""} onClose=${() => session.set({ keyWanted: "" })}>
    <form class="form" onSubmit=${save}>
      ${keyWanted !== "asked" && html`<${Notice} kind="error">${keyWanted}</>`}
      <p>This server asks for a key. Whoever runs it makes one with <code>helix keys create</code>.</p>
      <label class="field">API key<input name="key" type="password" autocomplete="off" spellcheck=${false} placeholder="hx_…" required /></label>
      <p class="hint">It is kept in this tab until you close it, and sent to this server alone.</p>
      <div class="form-end"><button class="button main"><span>Continue</span></button></div>
    </form>
  </${Dialog}>`;
}

// A file that is let go of beside its place would be opened in place of the page.
for (const name of ["dragover", "drop"]) {
  window.addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
}

render(html`<${App} />`, document.getElementById("app"));
