// The tools of the reader: sources, view, page, size, search, outline, link, original; their keys.
import { Icon, IconButton, copyText, toast } from "../components.js";
import { html, useEffect, useState } from "../html.js";
import { address } from "../router.js";
import { isWeb, placeOf } from "../text.js";
import { saveFile } from "./heading.js";

export function Tools({ document, place, span, alone, view, zoom, page, pages, act, finding, outlined }) {
  const link = address("source", [document.id], span ? { start: span.from, end: span.to } : {});
  const copyLink = async () => toast((await copyText(new URL(link, location.href).href)) ? "Link copied" : "The link could not be copied");
  const web = isWeb(document.source_uri || "") ? webLink(document, span) : "";
  const sized = html`<div class="pair zoom"><${IconButton} icon="minus" label="Zoom out" aria-keyshortcuts="-" onClick=${() => act.size(-1)} />
      <button type="button" class="zoom-value" aria-label=${`${Math.round(zoom * 100)} percent: reset the zoom`} aria-keyshortcuts="0" onClick=${() => act.size(0)}>${Math.round(zoom * 100)}%</button>
      <${IconButton} icon="plus" label="Zoom in" aria-keyshortcuts="+" onClick=${() => act.size(1)} /></div>
    <div class="pair">${act.outline && html`<${IconButton} icon="outline" label="Outline" pressed=${outlined} aria-keyshortcuts="o" onClick=${act.outline} />`}
      <${IconButton} icon="search" label="Search within the document" pressed=${finding} aria-keyshortcuts="/" onClick=${act.find} /></div>`;
  return html`<div class=${act.choose ? "source-tools" : "source-tools last"}>
    <${Among} place=${place} />
    <p class="source-place" role="status">${placed(document, span, pages)}</p>
    ${!act.choose && sized}
    <div class="pair">
      ${span && html`<${IconButton} icon="mark" label="Back to the marked passage" onClick=${act.back} />`}
      <${IconButton} icon="link" label="Copy a link to this passage" onClick=${copyLink} />
      ${web && html`<a class="icon-button" href=${web} target="_blank" rel="noopener noreferrer" aria-label="Open the original web page" title="Open the original web page"><${Icon} name="web" /></a>`}
      ${document.file && !document.isAttached && html`<${IconButton} icon="down-file" label="Download the original" onClick=${() => saveFile(document)} />`}
      ${!alone && html`<a class="icon-button alone-link" href=${link} aria-label="Open on a page of its own" title="Open on a page of its own"><${Icon} name="open" /></a>`}
    </div>
  </div>
  ${act.choose && html`<div class="source-tools last" role="group" aria-label="View">
    <div class="switch" role="group" aria-label="Show as">
      <button type="button" aria-pressed=${view === "page"} aria-keyshortcuts="v" onClick=${() => act.choose("page")}>Page</button>
      <button type="button" aria-pressed=${view === "text"} aria-keyshortcuts="v" onClick=${() => act.choose("text")}>Text</button></div>
    <${Jump} page=${page} pages=${pages} onGo=${act.goTo} />
    ${sized}
  </div>`}`;
}

// The sources that this one is one of.
function Among({ place: { among, at, onSource } }) {
  if (!onSource || !among || among.length < 2) return null;
  return html`<div class="pair among"><${IconButton} icon="before" label="Previous source" aria-keyshortcuts="[" disabled=${at <= 0} onClick=${() => onSource(at - 1)} />
    <span class="hint">${at + 1} of ${among.length}</span>
    <${IconButton} icon="after" label="Next source" aria-keyshortcuts="]" disabled=${at >= among.length - 1} onClick=${() => onSource(at + 1)} /></div>`;
}

// A page by its number, else by the number that is printed on it.
function Jump({ page, pages, onGo }) {
  const [typed, setTyped] = useState("");
  useEffect(() => setTyped(page === null ? "" : String(page)), [page]);
  const go = (event) => {
    event.preventDefault();
    const wanted = typed.trim().toLowerCase();
    const found = pages.find((one) => String(one.number) === wanted) || pages.find((one) => (one.label || "").toLowerCase() === wanted);
    if (found) onGo(found.number);
    else toast(`There is no page ${typed}`);
    event.target.querySelector("input").select();
  };
  const label = pages.find((one) => one.number === page)?.label;
  return html`<form class="jump" onSubmit=${go}><label><span class="unseen">Go to page</span>
    <input value=${typed} inputmode="text" autocomplete="off" size=${Math.max(String(pages.length).length, 2)} aria-keyshortcuts="g"
      onInput=${(event) => setTyped(event.target.value)} onFocus=${(event) => event.target.select()} /></label>
    <span class="hint">of ${pages.length}${label && label !== String(page) ? ` (printed ${label})` : ""}</span></form>`;
}

function placed(document, span, pages) {
  const section = span && document.outline.find((one) => one.start <= span.start && span.start < one.end);
  if (!section) return "";
  const label = pages.find((one) => one.number === section.page)?.label;
  return placeOf({ ...section, label: label && label !== String(section.page) ? `page ${section.page} (printed ${label})` : section.label }, document.title);
}

// The page of the web at the very passage, where the browser finds it.
const LONGEST = 120;
function webLink({ source_uri: source, text }, span) {
  const quote = span ? text.slice(span.start, span.end).trim() : "";
  if (!quote || source.includes("#") || quote.includes("\n")) return source;
  const ends = quote.length <= LONGEST ? [quote] : [quote.slice(0, 40).replace(/\s\S*$/, ""), quote.slice(-40).replace(/^\S*\s/, "")];
  return `${source}#:~:text=${ends.map((end) => encodeURIComponent(end).replace(/-/g, "%2D")).join(",")}`;
}

// One key each, while the focus is in the reader and not in a field.
export function useKeys(act, { among, at, onSource }, view) {
  const step = (by) => onSource && among?.[at + by] && onSource(at + by);
  const keys = {
    "/": act.find, o: act.outline, "+": () => act.size(1), "=": () => act.size(1), "-": () => act.size(-1),
    0: () => act.size(0), "[": () => step(-1), "]": () => step(1),
    v: act.choose && (() => act.choose(view === "page" ? "text" : "page")),
    g: act.goTo && (() => document.querySelector(".jump input")?.focus()),
  };
  return (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest("dialog")) return;
    if (!keys[key]) return;
    event.preventDefault();
    keys[key]();
  };
}
