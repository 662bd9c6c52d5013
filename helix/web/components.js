// The pieces that views share. Each is a function of its properties; looks are in styles/parts.css.
//
//   <${Icon} name="copy" />                       a line drawing; decoration, so give the button a label
//   <${IconButton} icon="copy" label="Copy" onClick=${f} pressed=${true} />
//   <${FileButton} icon="clip" label="Add" field="Files to add" accept="image/*" multiple=${true}
//                  onPick=${f} />                 chooses files; f gets them as a list
//   <${Button} kind="plain|main|danger" …>text</>  a button with text
//   <${Dialog} title="Scope" open=${b} onClose=${f}>…</>   modal; Escape and the backdrop close it. The
//                                                 focus goes to what has data-focus, else to the first
//                                                 field, else to the first button at its end
//   <${Notice} kind="info|warn|error" title="…">…</>      role alert where it is an error
//   <${Spinner} label="Searching" />
//   toast("Copied")                               one line for as long as one reads it, read out politely
//   announce("…")                                 read out only; for what is seen anyway
//   await copyText("…")                           to the clipboard; true when it worked
import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { createStore, useStore } from "./store.js";

const PATHS = {
  ask: "M4 5h16v11H9l-5 4z",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  down: "M7 4v9M7 13l4 7c2 0 2.5-1 2.3-2.5L13 14h5.5c1.3 0 2-1 1.7-2.2l-1.4-6C18.5 4.7 17.8 4 16.7 4H7M3.5 4v9",
  up: "M7 20v-9M7 11l4-7c2 0 2.5 1 2.3 2.5L13 10h5.5c1.3 0 2 1 1.7 2.2l-1.4 6c-.3 1.1-1 1.8-2.1 1.8H7M3.5 20v-9",
  why: "M5 20V10M12 20V4M19 20v-7",
  share: "M6 10a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM17 3a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM17 16a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM8.2 11.3l6.6-4.4M8.2 13.7l6.6 3.6",
  link: "M10 14l4-4M9 7l2-2a4 4 0 016 6l-2 2M15 17l-2 2a4 4 0 01-6-6l2-2",
  retry: "M20 12a8 8 0 11-2.3-5.7M20 3v4h-4",
  stop: "M7 7h10v10H7z",
  send: "M12 20V5M6 11l6-6 6 6",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  moon: "M20 14.5A8.5 8.5 0 019.5 4a8.5 8.5 0 1010.5 10.5z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  scope: "M4 6h16M7 12h10M10 18h4",
  before: "M14 6l-6 6 6 6",
  after: "M10 6l6 6-6 6",
  below: "M7 10l5 5 5-5",
  people: "M9 5a3 3 0 100 6 3 3 0 000-6zM3 19c0-3.5 2.5-5.5 6-5.5s6 2 6 5.5M16 5.5a3 3 0 010 5.5M17.5 14c2.2.6 3.5 2.4 3.5 5",
  key: "M14.5 4a5.5 5.5 0 11-4.6 8.5L4 18.4V21h3v-2h2v-2h2l1.2-1.6M16 8.5v.1",
  keyboard: "M3 6h18v12H3zM7 10v.1M11 10v.1M15 10v.1M18 14v.1M7 14h7",
  shield: "M12 3l8 3v6c0 4.5-3.2 7.6-8 9-4.8-1.4-8-4.5-8-9V6z",
  code: "M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14",
  none: "M12 3a9 9 0 100 18 9 9 0 000-18zM6 6l12 12",
  warn: "M12 4l9 16H3zM12 10v4M12 17v.5",
  check: "M5 12l5 5 9-11",
  document: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5v.1",
  label: "M4 4h8l8 8-8 8-8-8zM8.2 8.2v.1",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  add: "M12 16V5M7.5 9.5L12 5l4.5 4.5M5 16v4h14v-4",
  search: "M10.5 4a6.5 6.5 0 100 13 6.5 6.5 0 000-13zM15.5 15.5L20 20",
  outline: "M4 6h3M4 12h3M4 18h3M10 6h10M10 12h8M10 18h6",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  mark: "M4 20h7M14 4l5 5-8 8H7v-4z",
  edit: "M5 19l1-4L16 5l3 3L9 18z",
  web: "M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  clip: "M16.5 7.5l-7 7a2 2 0 002.8 2.8l7-7a4 4 0 00-5.7-5.7l-7 7a6 6 0 008.5 8.5l5.4-5.4",
  "down-file": "M12 4v11M7.5 10.5L12 15l4.5-4.5M5 16v4h14v-4",
  microphone: "M12 3a3 3 0 00-3 3v5a3 3 0 006 0V6a3 3 0 00-3-3zM5 11a7 7 0 0014 0M12 18v3",
  speaker: "M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 010 6M18.5 6.5a8 8 0 010 11",
  clock: "M12 3a9 9 0 100 18 9 9 0 000-18zM12 7v5l3.5 2",
  star: "M12 4l2.5 5 5.5.8-4 3.9.9 5.5-4.9-2.6-4.9 2.6.9-5.5-4-3.9 5.5-.8z",
  cards: "M4 8h12v11H4zM8 8V5h12v11h-4",
  map: "M4 12h5M9 12c3 0 2-6 6-6h5M9 12c3 0 2 6 6 6h5",
  open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name] || ""} /></svg>`;
}

export function IconButton({ icon, label, pressed, ...rest }) {
  return html`<button type="button" class="icon-button" aria-label=${label} title=${label} aria-pressed=${pressed} ...${rest}><${Icon} name=${icon} /></button>`;
}

export function FileButton({ icon, label, field, onPick, ...limits }) {
  const chooser = useRef(null);
  const choose = (event) => {
    onPick([...event.target.files]);
    event.target.value = "";
  };
  return html`<${IconButton} icon=${icon} label=${label} onClick=${() => chooser.current.click()} />
    <input ref=${chooser} class="unseen" type="file" tabindex="-1" aria-label=${field} onChange=${choose} ...${limits} />`;
}

export function Button({ kind = "plain", icon, children, ...rest }) {
  return html`<button type="button" class=${`button ${kind}`} ...${rest}>${icon && html`<${Icon} name=${icon} />`}<span>${children}</span></button>`;
}

export function Spinner({ label }) {
  return html`<span class="spinner"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span><span>${label}</span></span>`;
}

export function Notice({ kind = "info", title, children }) {
  const role = kind === "error" ? "alert" : undefined;
  return html`<div class=${`notice ${kind}`} role=${role}>
    ${kind !== "info" && html`<${Icon} name="warn" />`}
    <div>${title && html`<p class="notice-title">${title}</p>`}${children}</div>
  </div>`;
}

export function Dialog({ title, open, onClose, children, wide }) {
  const dialog = useRef(null);
  useLayoutEffect(() => { // before the next key is pressed
    if (open && !dialog.current.open) {
      dialog.current.showModal();
      focusWithin(dialog.current);
    }
    if (!open && dialog.current.open) {
      dialog.current.close();
      if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true }); // what opened it is gone
    }
  }, [open]);
  // what was written in a form is not lost by a press beside it
  const onBackdrop = (event) => event.target === dialog.current && !dialog.current.querySelector("form :user-valid") && onClose();
  return html`<dialog class=${wide ? "dialog wide" : "dialog"} ref=${dialog} onClose=${onClose} onClick=${onBackdrop} aria-label=${title}>
    ${open && html`<div class="dialog-body">
      <header class="dialog-head"><h2>${title}</h2><${IconButton} icon="close" label="Close" onClick=${onClose} /></header>
      ${children}
    </div>`}
  </dialog>`;
}

const FIELDS = "input:not([type=hidden], :disabled), textarea:not(:disabled), select:not(:disabled)";

function focusWithin(dialog) {
  const target = ["[data-focus]", FIELDS, ".form-end button"].map((one) => dialog.querySelector(one)).find(Boolean);
  // what is higher than the dialog would be scrolled to, past the title
  target?.focus({ preventScroll: target.matches("[data-focus]") });
  if (target?.matches("input[type=text], input:not([type])")) target.select();
}

const live = createStore({ text: "", read: "" });
let clearing = 0;

export function toast(text) {
  live.set({ text, read: text });
  clearTimeout(clearing);
  clearing = setTimeout(() => live.set({ text: "" }), 2000 + text.length * 60); // as long as one reads
}

export function announce(read) {
  live.set({ read });
}

export function Announcements() {
  const { text, read } = useStore(live);
  return html`<div>
    <div class="unseen" aria-live="polite" aria-atomic="true" id="announced">${read}</div>
    ${text && html`<div class="toast" aria-hidden="true">${text}</div>`}
  </div>`;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// A page that is not served over https has no clipboard interface.
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  (document.querySelector("dialog[open]") || document.body).append(area);
  area.select();
  const worked = document.execCommand("copy");
  area.remove();
  return worked;
}

// A value that changes `delay` milliseconds after the last change of `value`.
export function useDelayed(value, delay) {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return late;
}
