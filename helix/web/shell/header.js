// The top of the page: Ask and Library, the palette, and a menu with the rest.
//
//   <${Header} route=${route} onSettings=${f} onShortcuts=${f} onPalette=${f} />
import { Icon } from "../components.js";
import { html } from "../html.js";
import { address } from "../router.js";
import { openNow, session, useStore } from "../store.js";
import { useViews } from "../views/index.js";
import { useAbout } from "./about.js";
import { Menu } from "./menu.js";
import { signOutEverywhere } from "./shared-key.js";
import { Keys } from "./shortcuts.js";
import { SpaceMenu } from "./spaces.js";

export const API_DOCS = "/docs";
export const ACCOUNT = "/web/accounts/index.html";

export function Header({ route, onSettings, onShortcuts, onPalette }) {
  const toMain = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  const { id } = useStore(openNow);
  const shown = useViews().filter((view) => view.label && !view.aside);
  const hrefOf = ({ name }) => (name === "ask" && id ? address("c", [id]) : address(name));
  const isHere = ({ name }) => route.name === name || (name === "ask" && route.name === "c");
  return html`<header class="top">
    <a class="skip" href="#main" onClick=${toMain}>Skip to content</a>
    <a class="brand" href=${address("ask")} aria-label="Helix, home"><img src="/web/icon.svg" alt="" width="24" height="24" /><span>Helix</span></a>
    <${SpaceMenu} />
    <nav aria-label="Views">${shown.map((view) => html`<a key=${view.name}
      href=${hrefOf(view)} aria-current=${isHere(view) ? "page" : undefined}>${view.label}</a>`)}</nav>
    <div class="top-tools">
      <button type="button" class="find-anything" onClick=${onPalette} aria-haspopup="dialog" title="Find anything">
        <${Icon} name="search" /><span class="find-text">Find anything</span><span class="find-keys"> <${Keys} keys="Mod K" /></span></button>
      <${More} route=${route} onSettings=${onSettings} onShortcuts=${onShortcuts} />
    </div>
  </header>`;
}

function More({ route, onSettings, onShortcuts }) {
  const { tenant, auth } = useAbout();
  const { key } = useStore(session);
  const aside = useViews().filter((view) => view.aside);
  const views = aside.map((view) => ({
    name: view.label, icon: view.icon, href: address(view.name), current: route.name === view.name,
  }));
  const items = [
    ...views,
    { name: "API docs", icon: "code", href: API_DOCS },
    null,
    { name: "Settings", icon: "settings", run: onSettings, hint: tenant && `tenant ${tenant}` },
    { name: "Keyboard shortcuts", icon: "keyboard", run: onShortcuts, hint: html`<${Keys} keys="?" />` },
    ...(auth === "accounts" && !key ? [null, { name: "Shared with me", icon: "share", href: address("shared"), current: route.name === "shared" }, { name: "Your account", icon: "key", href: ACCOUNT, hint: "sign out" }] : []),
    ...(key ? [null, { name: "Sign out", icon: "key", run: signOutEverywhere }] : []),
  ];
  return html`<span class="who">${tenant && tenant !== "default" && html`<span class="tenant" title="The tenant whose documents you ask">${tenant}</span>`}
    <${Menu} label="More" current=${aside.some((view) => view.name === route.name)} items=${items} /></span>`;
}
