// Markup without a build step: html`<p class="note">${text}</p>` makes Preact elements.
// Import everything of Preact from here. What is put in with ${} is text, never markup.
// No style="…" in markup: the page's policy forbids it. Use a class, or a style object.
import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export const html = htm.bind(h);
export { render } from "./vendor/preact.mjs";
export {
  useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState,
} from "./vendor/preact-hooks.mjs";
