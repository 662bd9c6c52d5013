// The shell: header, palette and dialogs around the view that the address names.
import { html, render, useEffect, useState } from "./html.js";
import { Announcements, Button, Notice, Spinner } from "./components.js";
import { address, go, useRoute } from "./router.js";
import { useAbout } from "./shell/about.js";
import { useCommands } from "./shell/commands.js";
import { ACCOUNT, API_DOCS, Header } from "./shell/header.js";
import { isTyping, useKeys } from "./shell/keys.js";
import { Palette } from "./shell/palette.js";
import { KeyWanted, Settings } from "./shell/settings.js";
import { signOutEverywhere } from "./shell/shared-key.js";
import { Shortcuts } from "./shell/shortcuts.js";
import { EVERYTHING, enter, useSpaces } from "./shell/spaces.js";
import { THEMES, useTheme } from "./shell/theme-choice.js";
import { useTitle } from "./shell/title.js";
import { session, useStore } from "./store.js";
import { VIEWS, useViews } from "./views/index.js";

function App() {
  const route = useRoute();
  const [open, setOpen] = useState(""); // the dialog that is open: settings, shortcuts or palette
  const { tenant, key, space } = useStore(session);
  const close = () => setOpen("");
  useOwnCommands(setOpen);
  useKeys({
    "mod+k": () => setOpen("palette"),
    "?": () => setOpen("shortcuts"),
    "/": () => toField(),
  });
  const shown = VIEWS.find(({ name }) => name === route.name)?.as ?? route.name;
  // another tenant, key or space: another library, so everything is drawn and asked for anew
  return html`<${Header} route=${route} onSettings=${() => setOpen("settings")} onShortcuts=${() => setOpen("shortcuts")} onPalette=${() => setOpen("palette")} />
    <main id="main" tabindex="-1"><${View} key=${`${shown} ${tenant} ${key} ${space}`} route=${route} /></main>
    <${Settings} open=${open === "settings"} onClose=${close} />
    <${Shortcuts} open=${open === "shortcuts"} onClose=${close} />
    <${Palette} open=${open === "palette"} onClose=${close} />
    <${KeyWanted} />
    <${Announcements} />`;
}

function useOwnCommands(setOpen) {
  const { key } = useStore(session);
  const { auth } = useAbout();
  const [theme, chooseTheme] = useTheme();
  const views = useViews().filter((view) => view.label);
  const { list, several } = useSpaces();
  const spaceCommands = several ? [null, ...list].map((one) => ({
    id: `space-${one?.id ?? "all"}`, name: `Space: ${one?.name ?? EVERYTHING}`, icon: "scope", hint: "switch project notebook", run: () => enter(one?.id ?? null),
  })) : [];
  useCommands([
    ...views.map((view) => ({ id: view.name, name: `Go to ${view.label}`, icon: view.icon, run: () => go(address(view.name)) })),
    { id: "api", name: "Go to API docs", icon: "code", hint: "OpenAPI Swagger", run: () => location.assign(API_DOCS) },
    { id: "settings", name: "Settings", icon: "settings", hint: "tenant judge theme", run: () => setOpen("settings") },
    { id: "shortcuts", name: "Keyboard shortcuts", icon: "keyboard", keys: "?", run: () => setOpen("shortcuts") },
    ...Object.entries(THEMES).filter(([value]) => value !== theme).map(([value, name]) => ({
      id: `theme-${value}`, name: `Theme: ${name.toLowerCase()}`, icon: { "": "system", light: "sun", dark: "moon" }[value], run: () => chooseTheme(value),
    })),
    ...spaceCommands,
    ...(auth === "accounts" && !key ? [{ id: "shared", name: "Shared with me", icon: "share", hint: "sharing comments", run: () => go(address("shared")) }, { id: "account", name: "Your account", icon: "key", hint: "sign out sessions tokens password", run: () => location.assign(ACCOUNT) }] : []),
    ...(key ? [{ id: "out", name: "Sign out", icon: "key", hint: "forget the API key", run: signOutEverywhere }] : []),
  ]);
}

// To where typing belongs in the view: the question box, the search of the library.
function toField(preventScroll) {
  const field = document.querySelector("main [data-focus], #question");
  field?.focus({ preventScroll });
  return Boolean(field);
}

function View({ route }) {
  const [loaded, setLoaded] = useState(null);
  const view = useViews().find(({ name }) => name === route.name);
  const drawn = view?.as ?? view?.name;
  useTitle(view?.label && view.name !== "ask" ? view.label : "");
  useEffect(() => {
    let here = true;
    if (!view) return undefined;
    Promise.all([loadModule(view.module ?? `views/${drawn}.js`), ...(view.styles || []).map(loadStyles)])
      .then(([module]) => here && setLoaded({ component: module.default }))
      .catch(() => here && setLoaded({ failed: true }));
    return () => { here = false; };
  }, [drawn]);
  useEffect(() => { if (loaded?.component) begin(); }, [loaded]);
  useEffect(() => { if (loaded && document.activeElement === document.body) toMain(); }, [route.rest.join()]); // what had the focus may be gone
  if (!view) return html`<div class="page"><${Notice} kind="error" title="Page not found."><a href=${address("ask")}>Go to the start page</a></></div>`;
  if (!loaded) return html`<div class="page"><${Spinner} label="Loading" /></div>`;
  if (loaded.failed) return html`<div class="page"><${Notice} kind="error" title="This part of the page did not load."><p>The server may have stopped, or was updated since this page was opened.</p><${Button} onClick=${() => location.reload()}>Reload</></></div>`;
  return html`<${loaded.component} route=${route} />`;
}

let isFirst = true;

// A view begins where typing belongs, or at its start. A phone's keyboard would cover half of it.
function begin() {
  const now = document.activeElement;
  const isPage = isFirst && now === document.body; // which begins before the header
  isFirst = false;
  if (now !== document.body && (isTyping(now) || document.querySelector("dialog[open]"))) return;
  const wide = matchMedia("(min-width: 48rem)").matches;
  if (!(wide && toField(true)) && !isPage) toMain();
}

const toMain = () => document.getElementById("main").focus({ preventScroll: true });

// A failure may be cached: the next try has another address.
const failures = {};
function loadModule(name) {
  return import(`./${name}${failures[name] ?? ""}`).catch((error) => {
    failures[name] = `${failures[name] ?? "?"}again`;
    throw error;
  });
}

function loadStyles(name) {
  const href = `/web/styles/${name}`;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = resolve;
    link.onerror = () => reject(link.remove()); // or it would stand for one that came
    document.head.append(link);
  });
}

import("./shell/scroll.js");
import("./library/anywhere.js"); // what is dropped on any view
render(html`<${App} />`, document.getElementById("app"));
