// The sheet of all shortcuts. What is done where says its own keys; here they stand together.
//
//   <${Shortcuts} open=${b} onClose=${f} />
import { Dialog } from "../components.js";
import { html } from "../html.js";
import { useAbout } from "./about.js";
import { isMac } from "./keys.js";

// [what it does, keys]; keys apart by a blank are one after another or either, as the text says
const SHORTCUTS = {
  Everywhere: [
    ["Find a command, a view or a document", "Mod K"],
    ["Show keyboard shortcuts", "?"],
    ["Go to the question box, or to the search of the library", "/"],
    ["Close the open panel or dialog", "Esc"],
  ],
  Asking: [
    ["Send the question", "Enter"],
    ["Start a new line", "Shift Enter"],
    ["Recall the last question, in an empty box", "↑"],
    ["Stop the answer", "Esc"],
  ],
  "List of conversations": [
    ["Previous, next conversation", "↑ ↓"],
    ["Rename", "F2"],
    ["Delete, with undo", "Delete"],
  ],
  "Reader": [
    ["Search in the document; next match with Enter, previous with Shift Enter", "/"],
    ["Switch between page and text", "v"],
    ["Go to a page", "g"],
    ["Outline", "o"],
    ["Previous, next source", "[ ]"],
    ["Zoom", "+ - 0"],
  ],
  Study: [
    ["Choose an answer; rate a card", "1 2 3 4"],
    ["Show the answer of a card; fold a node of a map", "Space"],
    ["Undo the last rating", "u"],
    ["Go from node to node; with Alt, move the node", "↑ ↓ ← →"],
    ["Zoom the map", "+ - 0"],
  ],
  "List of the library": [
    ["Go from row to row; with Shift, select them", "↑ ↓"],
    ["Select a row; with Shift, all rows up to it", "Space"],
    ["Select all shown rows", "Mod A"],
    ["Delete the selected documents, after a question", "Delete"],
    ["Clear the selection", "Esc"],
    ["Paste files, a text or an address", "Mod V"],
  ],
  Library: [["Select all rows up to this one", "Shift Click"]],
  "Dialogs and menus": [
    ["Save, or open the selected item", "Enter"],
    ["Previous, next item of a list", "↑ ↓"],
    ["Close", "Esc"],
  ],
};

export function Shortcuts({ open, onClose }) {
  const { study } = useAbout();
  const groups = Object.entries(SHORTCUTS).filter(([group]) => group !== "Study" || study !== false);
  return html`<${Dialog} title="Keyboard shortcuts" open=${open} onClose=${onClose} wide>
    <div class="shortcuts" tabindex="0" role="region" aria-label="All shortcuts" data-focus>
      ${groups.map(([group, list]) => html`<section key=${group} aria-label=${group}><h3>${group}</h3>
        <dl>${list.map(([what, keys]) => html`<div key=${what}><dt>${what}</dt><dd><${Keys} keys=${keys} /></dd></div>`)}</dl></section>`)}
    </div>
  </${Dialog}>`;
}

export function Keys({ keys }) {
  return keys.split(" ").map((key) => html`<kbd key=${key}>${key === "Mod" ? (isMac ? "⌘" : "Ctrl") : key}</kbd>`);
}
