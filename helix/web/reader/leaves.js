// A long list of leaves (pages, parts of a text) of which only those near the view are drawn; the
// others keep their place.
//
//   <${Leaves} leaves=${[{ key, height | ratio }]} draw=${(leaf, index) => …} goal=${goal}
//      onTop=${(index) => …} label="Text of the document" className="document-text" width="120%" />
//
// `goal` is where to be: { index, selector, share }: the element that the selector finds in the leaf,
// else that share of the leaf. It is kept in view, whatever is drawn late above it, until the reader
// is touched. `onTop(index, share)` tells what is in the middle of the view, where a passage is shown.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";

const NEAR = "700px 0px"; // around what is seen
const LINE = 1 / 2; // of the view: what is there is where one is
const SETTLES = 80; // ms; who passes by faster than that needs no picture

export function Leaves({ leaves, draw, goal, onTop, label, className, width, settle = false }) {
  const scroller = useRef(null);
  const sheets = useRef(null);
  const watch = useMemo(watcher, [leaves]);
  useEffect(() => watch.stop, [watch]);
  useGoal(scroller, sheets, goal);
  useTop(scroller, sheets, onTop);
  return html`<div class="source-body" ref=${scroller} tabindex="0" role="region" aria-label=${label}>
    <div class=${className} ref=${sheets} style=${width ? { inlineSize: width } : {}}>
      ${leaves.map((leaf, index) => html`<${Leaf} key=${leaf.key} leaf=${leaf} index=${index} draw=${draw} watch=${watch}
        settle=${settle} wanted=${Boolean(goal) && Math.abs(goal.index - index) <= 1} />`)}
    </div></div>`;
}

function Leaf({ leaf, index, draw, watch, wanted, settle }) {
  const element = useRef(null);
  const height = useRef(leaf.height);
  const [near, setNear] = useState(wanted);
  useEffect(() => {
    let timer = 0;
    const stop = watch.add(element.current, (seen) => {
      if (!element.current) return; // the leaf is gone, and its effect ends after it
      clearTimeout(timer);
      if (!seen) height.current = element.current.offsetHeight;
      timer = setTimeout(() => setNear(seen), seen && settle ? SETTLES : 0);
    });
    return () => { clearTimeout(timer); stop(); };
  }, [watch]);
  const drawn = near || wanted;
  const size = leaf.ratio ? { aspectRatio: leaf.ratio } : drawn ? {} : { blockSize: `${height.current}px` };
  return html`<div class=${drawn ? "leaf drawn" : "leaf"} ref=${element} style=${size}>${drawn && draw(leaf, index)}</div>`;
}

function watcher() {
  const calls = new Map();
  let observer = null;
  return {
    add(element, tell) {
      observer ??= new IntersectionObserver(
        (entries) => entries.forEach((entry) => calls.get(entry.target)?.(entry.isIntersecting)),
        { root: element.closest(".source-body"), rootMargin: NEAR },
      );
      calls.set(element, tell);
      observer.observe(element);
      return () => { observer?.unobserve(element); calls.delete(element); };
    },
    stop() { observer?.disconnect(); },
  };
}

const TOUCHES = ["wheel", "touchstart", "pointerdown", "keydown"];

function useGoal(scroller, sheets, goal) {
  useLayoutEffect(() => {
    if (!goal) return undefined;
    const box = scroller.current;
    const aim = () => {
      if (!sheets.current) return;
      const leaf = sheets.current.children[goal.index];
      const found = (goal.selector && leaf?.querySelector(goal.selector)) || null;
      if (found) show(box, found);
      else if (leaf) box.scrollTop += placeIn(box, leaf, goal.share);
    };
    const grown = new ResizeObserver(aim);
    const changed = new MutationObserver(aim);
    const release = () => {
      grown.disconnect();
      changed.disconnect();
      TOUCHES.forEach((name) => box.removeEventListener(name, release));
    };
    grown.observe(sheets.current);
    changed.observe(sheets.current, { childList: true, subtree: true });
    TOUCHES.forEach((name) => box.addEventListener(name, release, { passive: true }));
    aim();
    return release;
  }, [goal]);
}

// How far the leaf, or a share of it, is from where it is to be: at the top, or in the middle.
function placeIn(box, leaf, share = 0) {
  const inner = leaf.getBoundingClientRect();
  const down = share ? box.clientHeight * LINE : 8;
  return inner.top + share * inner.height - box.getBoundingClientRect().top - down;
}

// A passage goes to the middle; only the reader scrolls, and a table within it.
function show(box, element) {
  const table = element.closest(".table-scroll");
  if (table && table !== box) show(table, element);
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  box.scrollTop += inner.top - outer.top - Math.max((box.clientHeight - inner.height) / 2, 24);
  const left = inner.left - outer.left;
  if (left < 0 || left + inner.width > box.clientWidth) box.scrollLeft += left - Math.max((box.clientWidth - inner.width) / 2, 8);
}

// The leaf in the middle of what is seen.
function useTop(scroller, sheets, onTop) {
  const tell = useRef(onTop);
  tell.current = onTop;
  useEffect(() => {
    const box = scroller.current;
    let frame = 0;
    const look = () => {
      frame = 0;
      if (!sheets.current) return; // closed since
      const line = box.getBoundingClientRect().top + box.clientHeight * LINE;
      const { children } = sheets.current;
      let [low, high] = [0, children.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (children[middle].getBoundingClientRect().bottom > line) high = middle;
        else low = middle + 1;
      }
      const { top, height } = children[low]?.getBoundingClientRect() ?? { top: line, height: 0 };
      tell.current?.(low, height ? Math.min(Math.max((line - top) / height, 0), 1) : 0);
    };
    const later = () => { frame ||= requestAnimationFrame(look); };
    box.addEventListener("scroll", later, { passive: true });
    later();
    return () => { cancelAnimationFrame(frame); box.removeEventListener("scroll", later); };
  }, []);
}
