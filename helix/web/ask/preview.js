// The quote behind a chip, beside it: while the pointer is over it or the keyboard on it, and at the
// first touch. Escape puts it away; the pointer may go into it.
//
//   const stop = watchChips(element, (chip) => passage)     listens to the chips within the element
//   wantsPreview(chip)             whether this press of it is to show the quote instead of opening it
//   hidePreview()
//   <${Preview} onOpen=${(passage, chip) => …} />           once a view
import { Icon } from "../components.js";
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { createStore, useStore } from "../store.js";
import { shortened } from "../text.js";
import { isOfTool } from "./cited.js";

const SHOWS = 120; // ms; who only passes over a chip is not shown anything
const HIDES = 220; // ms; the way from the chip into the preview
const LONGEST = 420; // characters of a quote
const MARGIN = 8;

const shown = createStore({ chip: null, passage: null, touched: false });
let timer = 0;
let touching = false; // whether the last press was by touch

function show(chip, passage, touched = false) {
  clearTimeout(timer);
  if (shown.get().chip !== chip) shown.get().chip?.removeAttribute("aria-describedby");
  if (!touched) chip.setAttribute("aria-describedby", "preview");
  shown.set({ chip, passage, touched });
}

export function hidePreview() {
  clearTimeout(timer);
  shown.get().chip?.removeAttribute("aria-describedby");
  if (shown.get().chip) shown.set({ chip: null, passage: null, touched: false });
}

const later = (act, delay) => {
  clearTimeout(timer);
  timer = setTimeout(act, delay);
};

export function wantsPreview(chip, passage) {
  if (!touching || shown.get().chip === chip) return false;
  show(chip, passage, true);
  return true;
}

export function watchChips(element, passageOf) {
  const chipAt = (target) => target.closest?.(".chip:enabled");
  const put = (chip) => {
    const passage = passageOf(chip);
    if (passage && chip.isConnected) show(chip, passage);
  };
  const on = {
    pointerdown: ({ pointerType }) => { touching = pointerType === "touch"; },
    pointerover: ({ target, pointerType }) => {
      const chip = chipAt(target);
      if (chip && pointerType !== "touch") later(() => put(chip), SHOWS);
    },
    pointerout: ({ target, pointerType }) => chipAt(target) && pointerType !== "touch" && later(hidePreview, HIDES),
    focusin: ({ target }) => {
      const chip = chipAt(target);
      if (chip?.matches(":focus-visible")) put(chip);
    },
    focusout: ({ target }) => chipAt(target) && !shown.get().touched && hidePreview(),
  };
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(on)) element.removeEventListener(name, listener);
    if (element.contains(shown.get().chip)) hidePreview();
  };
}

export function Preview({ onOpen }) {
  const { chip, passage, touched } = useStore(shown);
  const element = useRef(null);
  const [place, setPlace] = useState({});
  useLayoutEffect(() => { if (chip) setPlace(beside(chip, element.current)); }, [chip]);
  useClosing(chip, element);
  if (!chip) return null;
  const { title, place: where, quote } = passage;
  const role = touched ? { role: "group", "aria-label": "Cited passage" } : { role: "tooltip", id: "preview" };
  return html`<div class="preview" ref=${element} style=${place} ...${role}
      onPointerEnter=${() => clearTimeout(timer)} onPointerLeave=${({ pointerType }) => pointerType !== "touch" && later(hidePreview, HIDES)}>
    <p class="preview-title"><span>${title}</span>${where && html` <span class="hint">${where}</span>`}</p>
    ${quote ? html`<blockquote>${shortened(quote, LONGEST)}</blockquote>`
      : html`<p class="hint">No sentence of this passage was found to support the statement.</p>`}
    ${touched && !isOfTool(passage) && html`<button type="button" class="text-button" onClick=${() => { hidePreview(); onOpen(passage, chip); }}><${Icon} name="document" /><span>Open in the document</span></button>`}
  </div>`;
}

// Escape, a press elsewhere and scrolling put it away.
function useClosing(chip, element) {
  useLayoutEffect(() => {
    if (!chip) return undefined;
    const onKey = (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // nothing else is closed by it
      event.stopPropagation();
      hidePreview();
    };
    const onPress = ({ target }) => element.current?.contains(target) || chip.contains(target) || hidePreview();
    const from = window.scrollY;
    const onScroll = () => Math.abs(window.scrollY - from) > 24 && hidePreview();
    document.addEventListener("keydown", onKey, true);
    document.addEventListener("pointerdown", onPress, true);
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      document.removeEventListener("keydown", onKey, true);
      document.removeEventListener("pointerdown", onPress, true);
      window.removeEventListener("scroll", onScroll);
    };
  }, [chip]);
}

// Below the chip where there is room above the question box, else above; never out of the window.
function beside(chip, element) {
  const at = chip.getBoundingClientRect();
  const { width, height } = element.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const floor = document.querySelector(".ask-box")?.getBoundingClientRect().top ?? clientHeight;
  const left = Math.max(MARGIN, Math.min(at.left + at.width / 2 - width / 2, clientWidth - width - MARGIN));
  const below = at.bottom + MARGIN;
  const top = below + height < floor ? below : Math.max(at.top - height - MARGIN, MARGIN);
  return { insetInlineStart: `${left}px`, insetBlockStart: `${top}px` };
}
