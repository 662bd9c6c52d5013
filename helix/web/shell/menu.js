// A button with a menu below it, worked by keys as the ARIA pattern of a menu button has it: arrows,
// Home and End, a letter, Escape, Tab.
//
//   <${Menu} label="More" items=${[{ name, href | run, icon, current, checked, hint }, null, …]} />    null: a line;
//      checked: one of several that are chosen between. about="Model": what the label is the present one of
import { Icon } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";

export function Menu({ label, about, current, items }) {
  const [at, setAt] = useState(-1); // the item with the focus; -1: closed
  const element = useRef(null);
  const button = useRef(null);
  const open = at >= 0;
  const real = items.filter(Boolean);
  const close = (refocus) => {
    setAt(-1);
    if (refocus) button.current.focus();
  };
  useLayoutEffect(() => {
    if (open) element.current.querySelectorAll("[role^=menuitem]")[at].focus();
  }, [at]);
  useEffect(() => {
    if (!open) return undefined;
    const onDown = (event) => element.current.contains(event.target) || close(false);
    document.addEventListener("pointerdown", onDown);
    return () => document.removeEventListener("pointerdown", onDown);
  }, [open]);
  const first = Math.max(0, real.findIndex(({ checked }) => checked));
  const onButtonKey = (event) => {
    const to = { ArrowDown: first, ArrowUp: real.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
  };
  const onMenuKey = (event) => {
    const to = moved(event.key, at, real);
    if (to !== null) setAt(to);
    else if (event.key === "Escape") close(true);
    else if (event.key === "Tab") close(false);
    if (to !== null || event.key === "Escape") event.preventDefault();
  };
  const choose = (item) => {
    close(!item.href);
    item.run?.();
  };
  return html`<div class="menu" ref=${element}>
    <button type="button" ref=${button} class="menu-button" aria-haspopup="menu" aria-expanded=${open} aria-current=${current ? "page" : undefined}
      aria-label=${about && `${about}: ${label}`} onClick=${() => setAt(open ? -1 : first)} onKeyDown=${onButtonKey}><span>${label}</span><${Icon} name="below" /></button>
    ${open && html`<div class="menu-items" role="menu" aria-label=${about ?? label} onKeyDown=${onMenuKey}>
      ${items.map((item, n) => (item ? html`<${Item} key=${n} item=${item} onChoose=${choose} /> ` : html`<hr key=${n} role="separator" />`))}
    </div>`}
  </div>`;
}

function Item({ item, onChoose }) {
  const inside = html`<${Icon} name=${item.icon} /><span>${item.name}</span>${item.hint && html`<span class="hint">${item.hint}</span>`}`;
  const rest = { ...(item.checked === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": String(item.checked) }), tabindex: "-1", onClick: () => onChoose(item) };
  return item.href
    ? html`<a class="menu-item" href=${item.href} aria-current=${item.current ? "page" : undefined} ...${rest}>${inside}</a>`
    : html`<button type="button" class="menu-item" ...${rest}>${inside}</button>`;
}

// Where a key leads from item `at`; null: nowhere.
function moved(key, at, items) {
  const last = items.length - 1;
  const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at === 0 ? last : at - 1, Home: 0, End: last }[key];
  if (to !== undefined) return to;
  if (key.length > 1 || key === " ") return null;
  const order = [...items.keys()].map((n) => (n + at + 1) % items.length);
  return order.find((n) => items[n].name.toLowerCase().startsWith(key.toLowerCase())) ?? null;
}
