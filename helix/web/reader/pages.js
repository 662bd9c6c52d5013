// A document's pages as they are printed, with rectangles over what is marked.
//
//   <${Pages} document=${document} pages=${pages} boxes=${[{ page, left, … }]} zoom=${1} goal=${goal}
//      onTop=${(index) => …} onFail=${(message) => …} />
//
// Pictures come as the reader nears them. A key goes with each request, so they are fetched and
// shown as blobs. Beside each picture stands the page's text for those who do not see it.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { pictureOf } from "./documents.js";
import { Leaves } from "./leaves.js";
import { Slice } from "./marks.js";

const SCALES = [0.5, 1, 1.5, 2, 3, 4]; // pixels to the point; few, so that the server's cache is met
const TRIES = 3;
const PAUSE = 700; // ms

export function Pages({ document, pages, boxes, marks, zoom, goal, onTop, onFail, labels }) {
  const scale = useScale(pages, zoom);
  const draw = (leaf) => {
    const { page } = leaf;
    const over = boxes.filter((box) => box.page === page.number);
    return html`<figure class="sheet" aria-label=${labels(page.number)}>
      <${Picture} id=${document.id} page=${page} scale=${scale} onFail=${onFail} />
      ${over.map((box, n) => html`<div key=${n} class=${`box ${box.kind}`} style=${placed(box, page)}></div>`)}
      <div class="unseen"><${Slice} text=${document.text} start=${page.start} end=${page.end} marks=${marks} /></div>
    </figure>`;
  };
  return html`<${Leaves} leaves=${pages.leaves} draw=${draw} goal=${goal} onTop=${onTop} label="Pages of the document" className="sheets" width=${`${zoom * 100}%`} settle />`;
}

// The list of pages as leaves of their shape.
export function sheetsOf(pages) {
  return pages.map((page) => ({ key: page.number, ratio: `${page.width} / ${page.height}`, page }));
}

// A little more than the words, as a pen would.
function placed(box, page) {
  const percent = (value, whole) => `${(100 * value) / whole}%`;
  return {
    insetInlineStart: percent(box.left - 1.5, page.width), insetBlockStart: percent(box.top - 1.5, page.height),
    inlineSize: percent(box.right - box.left + 3, page.width), blockSize: percent(box.bottom - box.top + 3, page.height),
  };
}

function useScale(pages, zoom) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(window.document.querySelector(".sheets")?.parentElement.clientWidth || 600);
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  const widest = Math.max(...pages.map((page) => page.width), 1);
  const wanted = (width * zoom * Math.min(window.devicePixelRatio || 1, 2)) / widest;
  return SCALES.find((scale) => scale >= wanted * 0.9) ?? SCALES.at(-1);
}

function Picture({ id, page, scale, onFail }) {
  const [state, setState] = useState({ url: "", error: "", wanted: 0 });
  const shown = useRef("");
  useEffect(() => {
    const controller = new AbortController();
    fetched(id, page.number, scale, controller.signal).then((url) => {
      if (controller.signal.aborted) URL.revokeObjectURL(url);
      else {
        const before = shown.current;
        shown.current = url;
        setState((now) => ({ ...now, url, error: "" }));
        if (before) URL.revokeObjectURL(before);
      }
    }, (error) => {
      if (error.name === "AbortError") return;
      if (error.status === 404) onFail(error.message);
      else setState((now) => ({ ...now, error: error.message }));
    });
    return () => controller.abort();
  }, [id, page.number, scale, state.wanted]);
  useEffect(() => () => shown.current && URL.revokeObjectURL(shown.current), []);
  if (state.url) return html`<img src=${state.url} alt="" draggable=${false} />`;
  if (!state.error) return html`<p class="sheet-wait">${page.number}</p>`;
  return html`<p class="sheet-wait">${state.error} <button type="button" class="text-button" onClick=${() => setState({ ...state, error: "", wanted: state.wanted + 1 })}>Try again</button></p>`;
}

// A server that draws many pages at once may ask to come again.
async function fetched(id, number, scale, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return URL.createObjectURL(await pictureOf(id, number, scale, signal));
    } catch (error) {
      const later = error.status === 503 || error.status === 429;
      if (!later || tries === TRIES || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
    }
  }
}
