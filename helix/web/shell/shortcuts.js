// The sheet of all shortcuts. What is done where says its own keys; here they stand together.
//
//   <${Shortcuts} open=${b} onClose=${f} />
import { Dialog } from "../components.js";
import { html } from "../html.js";
import { isMac } from "./keys.js";

// [what it does, keys]; keys apart by a blank are one after another or either, as the text says
const SHORTCUTS = {
  Everywhere: [
    ["Find a command, a view or a document", "Mod K"],
    ["This sheet", "?"],
    ["To the question box, or to the search of the library", "/"],
    ["Close what is open", "Esc"],
  ],
  Asking: [
    ["Send the question", "Enter"],
    ["Break the line", "Shift Enter"],
    ["The last question again, in an empty box", "↑"],
    ["Stop the answer", "Esc"],
  ],
  "The list of conversations": [
    ["Up and down", "↑ ↓"],
    ["Rename", "F2"],
    ["Delete, with undo", "Delete"],
  ],
  "The reader": [
    ["Search within; go on with Enter, back with Shift Enter", "/"],
    ["Page or text", "v"],
    ["Go to a page", "g"],
    ["Outline", "o"],
    ["Previous, next source", "[ ]"],
    ["Size", "+ - 0"],
  ],
  Study: [
    ["Choose an answer; rate a card", "1 2 3 4"],
    ["Turn a card; fold a node of a map", "Space"],
    ["Take the last rating back", "u"],
    ["From node to node; with Alt they move it", "↑ ↓ ← →"],
    ["Size of the map", "+ - 0"],
  ],
  "The list of the library": [
    ["From box to box; with Shift they are chosen", "↑ ↓"],
    ["Choose a box; with Shift all up to it", "Space"],
    ["Choose all that are shown", "Mod A"],
    ["Delete what is chosen, after a question", "Delete"],
    ["Choose none", "Esc"],
    ["Add what was copied: files, a text, an address", "Mod V"],
  ],
  Library: [["Choose all rows up to this one", "Shift Click"]],
  "Dialogs and menus": [
    ["Save, or take what is chosen", "Enter"],
    ["Up and down a list", "↑ ↓"],
    ["Leave it", "Esc"],
  ],
};

export function Shortcuts({ open, onClose }) {
  return html`<${Dialog} title="Keyboard shortcuts" open=${open} onClose=${onClose} wide>
    <div class="shortcuts" tabindex="0" role="region" aria-label="All shortcuts" data-focus>
      ${Object.entries(SHORTCUTS).map(([group, list]) => html`<section key=${group} aria-label=${group}><h3>${group}</h3>
        <dl>${list.map(([what, keys]) => html`<div key=${what}><dt>${what}</dt><dd><${Keys} keys=${keys} /></dd></div>`)}</dl></section>`)}
    </div>
  </${Dialog}>`;
}

export function Keys({ keys }) {
  return keys.split(" ").map((key) => html`<kbd key=${key}>${key === "Mod" ? (isMac ? "⌘" : "Ctrl") : key}</kbd>`);
}
