// The body of the reader: pages or text, what is marked in them, where one is, and the tools.
import { Notice, Spinner, useDelayed } from "../components.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { recall, remember } from "../store.js";
import { sliceOf, unitsOf } from "../text.js";
import { boxesOf, pagesOf } from "./documents.js";
import { Find } from "./find.js";
import { Outline, entriesOf } from "./outline.js";
import { Pages, sheetsOf } from "./pages.js";
import { Tools, useKeys } from "./tools.js";
import { Writing, leafAt, useLeaves } from "./writing.js";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
const NEAR = 1500; // characters: about what is seen at once
const PHONE = 2; // of a page on a phone, which could not be read at its whole width

export function Reader({ document, place, alone }) {
  const { text } = document;
  const span = useSpan(document, place);
  const { pages, failed, setFailed } = usePages(document);
  const [wish, setWish] = useState(recall("reader.view", "localStorage") || "page");
  const [zoom, setZoom] = useState(zoomOf(recall("reader.zoom", "localStorage"), document.media));
  const [finding, setFinding] = useState({ open: false, hits: [], now: null });
  const [outlined, setOutlined] = useState(false);
  const [target, setTarget] = useState({ mark: "quote", ...span });
  const top = useRef({ place: 0, share: 0 });
  const [page, setPage] = useState(null);
  const view = pages?.length && !failed && wish === "page" ? "page" : "text";

  const leaves = useLeaves(document);
  const entries = useMemo(() => entriesOf(document), [document]);
  const boxes = useBoxes(document, view === "page" ? span : null, view === "page" ? finding.now : null);
  const marks = useMemo(() => marksOf(span, finding), [span, finding]);
  const sheets = useMemo(() => Object.assign([...(pages || [])], { leaves: sheetsOf(pages || []) }), [pages]);
  const labels = (number) => labelOf(pages?.find((one) => one.number === number) || { number });

  useEffect(() => setTarget({ mark: "quote", ...span }), [span]);
  useEffect(() => { if (finding.now) setTarget({ mark: "now", ...finding.now }); }, [finding.now]);
  const goal = useMemo(() => {
    if (!target) return null;
    const selector = target.mark && (view === "page" ? `.box.${target.mark}` : `mark.${target.mark}`);
    if (view === "text") return { index: leafAt(leaves, target.start), selector, share: target.share };
    const box = boxes.find((one) => one.kind === target.mark);
    const number = target.mark ? box?.page ?? pageAt(pages, target.start) : target.page ?? pageAt(pages, target.start);
    return { index: Math.max(pages.findIndex((one) => one.number === number), 0), selector, share: target.share };
  }, [target, view, leaves, boxes, pages]);

  const onTop = (index, share) => {
    const leaf = view === "page" ? pages[index] : leaves[index];
    if (!leaf) return;
    top.current = { place: leaf.start + share * (leaf.end - leaf.start), share };
    setPage((view === "page" ? leaf.number : leaf.page) ?? null);
  };
  // at the quote where that is what one sees, else where one is
  const stay = (within) => {
    const { place: start, share } = top.current;
    const near = span && Math.abs(span.start - start) < NEAR;
    setTarget(near ? { mark: "quote", ...span } : { mark: null, start, page, share: within ? share : 0 });
  };
  const choose = (name) => { remember("reader.view", name, "localStorage"); setWish(name); setFailed(""); stay(false); };
  const size = (by) => {
    const next = ZOOMS[Math.min(Math.max(by === 0 ? ZOOMS.indexOf(1) : ZOOMS.indexOf(zoom) + by, 0), ZOOMS.length - 1)];
    remember("reader.zoom", String(next), "localStorage");
    setZoom(next);
    stay(true);
  };
  const find = (open) => {
    setTarget(null);
    setFinding({ open, hits: [], now: null });
  };
  const goTo = (number) => {
    const found = pages.find((one) => one.number === number);
    if (found) setTarget({ mark: null, start: found.start, page: number });
  };
  const can = { pages: pages?.length > 0, outline: entries.length > 1 };
  const act = {
    choose: can.pages ? choose : null, size, goTo: can.pages ? goTo : null,
    find: () => find(!finding.open), outline: can.outline ? () => setOutlined(!outlined) : null,
    back: () => setTarget({ mark: "quote", ...span }),
  };
  const keys = useKeys(act, place, view);
  const loading = pages === null;
  const body = useMemo(() => view === "page"
    ? html`<${Pages} key="page" document=${document} pages=${sheets} boxes=${boxes} marks=${marks} zoom=${zoom} goal=${goal} onTop=${onTop} onFail=${setFailed} labels=${labels} />`
    : html`<${Writing} key="text" document=${document} leaves=${leaves} marks=${marks} goal=${goal} onTop=${onTop} labels=${labels} size=${ZOOMS.indexOf(zoom)} />`,
  [view, document, sheets, boxes, marks, zoom, goal, leaves]);
  return html`<div class="reader" onKeyDown=${keys}>
    <${Tools} document=${document} place=${place} span=${span} alone=${alone} view=${view} zoom=${zoom} page=${page} pages=${pages || []} act=${act} finding=${finding.open} outlined=${outlined} />
    ${finding.open && html`<${Find} text=${text} from=${() => top.current.place} onFound=${(hits, now) => setFinding({ open: true, hits, now })} onClose=${() => find(false)} />`}
    <${Notices} document=${document} place=${place} failed=${failed} pages=${pages} />
    <div class="reader-body">
      ${outlined && html`<${Outline} entries=${entries} current=${top.current.place} onClose=${() => setOutlined(false)}
        onGo=${(entry) => { setOutlined(!narrow()); setTarget({ mark: null, start: entry.start, page: entry.page }); }} />`}
      ${loading ? html`<div class="source-body"><${Spinner} label="Opening the document" /></div>`
        : text || pages.length ? body : html`<div class="source-body"><p class="hint">This document has no text.</p></div>`}
    </div>
  </div>`;
}

// The list of headings lies over the text where there is no room beside it.
const narrow = () => !matchMedia("(min-width: 80rem)").matches;

const UNKEPT = "the original of this document is not kept here, so its pages cannot be shown. Upload it, or ingest it with --keep-files.";
const UNREAD = "its pages were not kept when it was read. Read it again to see them.";

function Notices({ document, place, failed, pages }) {
  const { start, end, quote } = place;
  const changed = quote && start !== null && sliceOf(document.text, start, end) !== quote;
  const lacking = failed || (document.media === "pdf" && pages && !pages.length && (document.file ? UNREAD : UNKEPT));
  return html`${changed && html`<${Notice} kind="warn" title="The document has changed since it was cited."><p>The highlighted passage may not be the quoted one.</p></>`}
    ${lacking && html`<p class="reader-note hint">Text only: ${lacking}</p>`}`;
}

// What is marked: as the server counts (from, to), and as the text does here (start, end).
function useSpan({ text, chunks }, { start, end, chunkId }) {
  return useMemo(() => {
    if (start !== null && start !== undefined && end > start) {
      const [first, last] = unitsOf(text, [start, end]);
      return { from: start, to: end, start: first, end: last };
    }
    const chunk = chunks.find((one) => one.id === chunkId && one.start !== null);
    return chunk ? { from: chunk.from, to: chunk.to, start: chunk.start, end: chunk.end } : null;
  }, [text, start, end, chunkId]);
}

// null while it is not known whether there are pages.
function usePages(document) {
  const printed = document.media === "pdf";
  const [state, setState] = useState({ pages: printed ? null : [], failed: "" });
  useEffect(() => {
    if (!printed) return undefined;
    let here = true;
    pagesOf(document.id).then(
      (pages) => here && setState({ pages: document.file === false ? [] : withUnits(document.text, pages), failed: "" }),
      () => here && setState({ pages: [], failed: "" }),
    );
    return () => { here = false; };
  }, [document.id]);
  return { ...state, setFailed: (failed) => setState((now) => ({ ...now, failed })) };
}

function withUnits(text, pages) {
  const ascending = [...new Set(pages.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const units = unitsOf(text, ascending);
  const at = new Map(ascending.map((place, n) => [place, units[n]]));
  return pages.map((page) => ({ ...page, start: at.get(page.start), end: at.get(page.end) }));
}

function useBoxes({ id, text }, quote, now) {
  const [boxes, setBoxes] = useState({ quote: [], now: [] });
  useBoxesOf(id, quote && [quote.from, quote.to], (found) => setBoxes((other) => ({ ...other, quote: found })));
  const late = useDelayed(now, 60);
  const place = late && now && pointsOf(text, late);
  useBoxesOf(id, place, (found) => setBoxes((other) => ({ ...other, now: found })));
  return useMemo(() => ["quote", "now"].flatMap((kind) => boxes[kind].map((box) => ({ ...box, kind }))), [boxes]);
}

function useBoxesOf(id, place, put) {
  useEffect(() => {
    const controller = new AbortController();
    if (!place) put([]);
    else boxesOf(id, place[0], place[1], controller.signal).then(put, (error) => error.name !== "AbortError" && put([]));
    return () => controller.abort();
  }, [id, place?.[0], place?.[1]]);
}

// A place of the text as the server counts it.
function pointsOf(text, { start, end }) {
  const before = [...text.slice(0, start)].length;
  return [before, before + [...text.slice(start, end)].length];
}

function marksOf(span, { hits, now }) {
  const marks = hits.map((hit) => ({ start: hit.start, end: hit.end, kind: hit === now ? "now" : "hit" }));
  return span ? [{ start: span.start, end: span.end, kind: "quote" }, ...marks] : marks;
}

function pageAt(pages, place = 0) {
  return pages.findLast((page) => page.start <= place && page.start < page.end)?.number ?? pages[0]?.number;
}

function labelOf({ number, label }) {
  return label && label !== String(number) ? `Page ${number} (printed ${label})` : `Page ${number}`;
}

function zoomOf(text, media) {
  if (ZOOMS.includes(Number(text))) return Number(text);
  return media === "pdf" && matchMedia("(max-width: 30rem)").matches ? PHONE : 1;
}
