// A mind map: moved by dragging its ground, a node by dragging it. Keys on a node: arrows go from node to
// node, with Alt they move it; Space folds, Enter opens its passage, + - 0 make it larger, smaller, whole.
import { panelOf, passageOf } from "../ask/cited.js";
import { openPanel } from "../ask/panel.js";
import { Button, IconButton, announce, toast } from "../components.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { study } from "./api.js";
import { saveMap } from "./drawn.js";
import { NODE_HEIGHT, laidOut, wordsOf } from "./layout.js";

const STEP = 24; // px that a key moves a node
const DRAG = 4; // px before a press is a drag

export function MindMap({ set }) {
  const [isDown, setDown] = useState(false);
  const [folded, setFolded] = useState(() => new window.Set(set.items.filter(({ body }) => body.folded).map(({ id }) => id)));
  const [places, setPlaces] = useState(() => Object.fromEntries(set.items.filter(({ body }) => body.at).map(({ id, body }) => [id, body.at])));
  const nodes = set.items.map(({ id, body }) => ({ id, parent: body.parent, label: body.label, x: places[id]?.[0], y: places[id]?.[1], folded: folded.has(id) }));
  const map = useMemo(() => laidOut(nodes, isDown), [isDown, folded, places, set]);
  const [view, setView] = useView(map, isDown);
  const svg = useRef(null);
  const arrange = (body) => study.arrange(set.id, body).catch((error) => toast(error.message));
  const keep = (positions) => arrange({ positions });
  const foldOnly = (ids) => {
    const changed = nodes.filter(({ id }) => folded.has(id) !== ids.has(id)).map(({ id }) => [id, ids.has(id)]);
    setFolded(ids);
    arrange({ folded: Object.fromEntries(changed) });
  };
  const fold = (id) => foldOnly(new window.Set(folded.has(id) ? [...folded].filter((one) => one !== id) : [...folded, id]));
  const reset = () => {
    setPlaces({});
    keep(null);
  };
  const turn = () => {
    setDown(!isDown);
    reset();
  };
  const parents = new window.Set(nodes.map(({ parent }) => parent));
  const actions = {
    parents, fold, view, keep: (id) => keep({ [id]: places[id] }), svg,
    move: (id, x, y) => setPlaces((now) => ({ ...now, [id]: [x, y] })),
    open: (id, opener) => {
      const passages = set.items.find((one) => one.id === id).sources.map(passageOf);
      if (passages.length) openPanel(panelOf(passages[0], opener, passages));
    },
  };
  const zoom = (by) => setView(({ x, y, size }) => ({ x, y, size: Math.min(4, Math.max(0.2, size * by)) }));
  const keys = { "+": () => zoom(1.25), "-": () => zoom(0.8), 0: () => setView(null) };
  const counted = () => study.drawn(set.id).catch(() => {}); // the file is there: nothing is amiss for the reader
  const save = (kind) => saveMap(svg.current, kind, set.title).then(counted, () => toast("The map could not be saved"));
  return html`<div class="map-tools" role="group" aria-label="The map"><${Button} pressed=${isDown} onClick=${turn}>${isDown ? "Left to right" : "Top down"}</>
      <${IconButton} icon="minus" label="Zoom out (-)" onClick=${keys["-"]} /><${IconButton} icon="plus" label="Zoom in (+)" onClick=${keys["+"]} />
      <${Button} onClick=${keys[0]}>Fit</><${Button} onClick=${() => foldOnly(new window.Set(folded.size ? [] : nodes.filter(({ id, parent }) => parent !== null && parents.has(id)).map(({ id }) => id)))}>${folded.size ? "Expand all" : "Collapse all"}</>
      <${Button} disabled=${!Object.keys(places).length} onClick=${reset}>Reset positions</>
      ${["svg", "png", "pdf"].map((kind) => html`<${Button} key=${kind} icon="down-file" onClick=${() => save(kind)}>${kind.toUpperCase()}</>`)}</div>
    <${Ground} map=${map} view=${view} onView=${setView} svg=${svg} keys=${keys} title=${set.title} actions=${actions} />`;
}

// The visible part of the map: its middle and its scale. Null: the whole map.
function useView(map, isDown) {
  const [view, setView] = useState(null);
  useEffect(() => setView(null), [isDown]);
  const whole = { x: map.left + map.width / 2, y: map.top + map.height / 2, size: 1 };
  const set = (change) => setView((now) => (typeof change === "function" ? change(now ?? whole) : change));
  return [view ?? whole, set];
}

function Ground({ map, view, onView, svg, keys, title, actions }) {
  const [width, height] = [map.width / view.size, map.height / view.size];
  const begin = (event) => {
    if (event.target !== svg.current) return;
    drag(event, svg.current, (dx, dy) => onView({ ...view, x: view.x - dx, y: view.y - dy }));
  };
  const onWheel = (event) => {
    if (!event.ctrlKey) return; // else the page is scrolled
    event.preventDefault();
    keys[event.deltaY > 0 ? "-" : "+"]();
  };
  const onKeyDown = (event) => {
    const action = event.altKey || event.ctrlKey || event.metaKey ? null : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  useEffect(() => {
    const element = svg.current;
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  });
  return html`<svg class="map" ref=${svg} viewBox=${`${view.x - width / 2} ${view.y - height / 2} ${width} ${height}`} role="tree" aria-label=${`Map: ${title}`} onPointerDown=${begin} onKeyDown=${onKeyDown}>
    ${map.shown.filter(({ parent }) => parent !== null).map((one) => html`<${Branch} key=${one.node.id} from=${map.shown.find(({ node }) => node.id === one.parent)} to=${one} isDown=${map.isDown} />`)}
    ${map.shown.map((one, n) => html`<${Node} key=${one.node.id} one=${one} map=${map} first=${n === 0} actions=${actions} />`)}</svg>`;
}

// From edge to edge; where a node was dragged behind its parent, from the other side.
function Branch({ from, to, isDown }) {
  const sign = Math.sign(isDown ? to.y - from.y : to.x - from.x) || 1;
  const [left, top] = isDown ? [from.x, from.y + (sign * NODE_HEIGHT) / 2] : [from.x + (sign * from.width) / 2, from.y];
  const [right, low] = isDown ? [to.x, to.y - (sign * NODE_HEIGHT) / 2] : [to.x - (sign * to.width) / 2, to.y];
  const bend = isDown ? `${left} ${(top + low) / 2} ${right} ${(top + low) / 2}` : `${(left + right) / 2} ${top} ${(left + right) / 2} ${low}`;
  return html`<path d=${`M${left} ${top}C${bend} ${right} ${low}`} />`;
}

function Node({ one: { node, x, y, width, depth, hidden }, map, first, actions }) {
  const { id } = node;
  const { parents, fold, move, keep, open, svg } = actions;
  const hasMore = parents.has(id) && depth > 0;
  const begin = (event) => {
    if (event.target.closest(".fold")) return;
    drag(event, svg.current, (dx, dy) => move(id, x + dx, y + dy), (dragged) => (dragged ? keep(id) : open(id, event.target.closest("g"))));
  };
  const onKeyDown = (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (by && event.altKey) move(id, x + by[0] * STEP, y + by[1] * STEP);
    else if (by) focusOn(svg.current, beside(map, id, by));
    else if (event.key === " " && hasMore) fold(id);
    else if (event.key === "Enter") open(id, event.currentTarget);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onKeyUp = (event) => event.altKey && event.key.startsWith("Arrow") && keep(id);
  const label = `${node.label}${hidden ? `, ${hidden} folded away` : ""}`;
  return html`<g class=${depth ? "node" : "node root"} id=${`node-${id}`} transform=${`translate(${x} ${y})`} role="treeitem" tabindex=${first ? 0 : -1} aria-label=${label} aria-level=${depth + 1}
      aria-expanded=${hasMore ? String(!node.folded) : undefined} aria-selected="false" onPointerDown=${begin} onKeyDown=${onKeyDown} onKeyUp=${onKeyUp} onFocus=${() => hidden && announce(label)}>
    <title>${node.label}</title><rect x=${-width / 2} y=${-NODE_HEIGHT / 2} width=${width} height=${NODE_HEIGHT} rx="8" /><text text-anchor="middle" dy=".35em">${wordsOf(node)}</text>
    ${hasMore && html`<g class="fold" transform=${`translate(${width / 2} 0)`} onClick=${() => fold(id)}><circle r="9" /><text class="count" text-anchor="middle" dy=".35em">${hidden || "−"}</text></g>`}</g>`;
}

// The node that a key leads to: along the tree to a child or the parent, across it within its level.
function beside({ shown, isDown }, id, [right, down]) {
  const own = shown.find(({ node }) => node.id === id);
  const [along, across] = isDown ? [down, right] : [right, down];
  const place = ({ x, y }) => (isDown ? x : y);
  if (along < 0) return own.parent;
  const level = shown.filter(({ depth }) => depth === own.depth).sort((one, other) => place(one) - place(other));
  return along ? own.children[Math.floor((own.children.length - 1) / 2)] : level[level.indexOf(own) + across]?.node.id;
}

function focusOn(svg, id) {
  if (id == null) return;
  const node = svg.querySelector(`#node-${CSS.escape(id)}`);
  for (const one of svg.querySelectorAll(".node")) one.setAttribute("tabindex", one === node ? "0" : "-1");
  node?.focus();
}

// Follows the pointer in units of the drawing; at its end says whether it had moved.
function drag(event, svg, onMove, onEnd = () => {}) {
  if (event.button) return;
  const scale = svg.getScreenCTM().a;
  const [left, top] = [event.clientX, event.clientY];
  let moved = false;
  const follow = ({ clientX, clientY }) => {
    moved ||= Math.hypot(clientX - left, clientY - top) > DRAG;
    if (moved) onMove((clientX - left) / scale, (clientY - top) / scale);
  };
  const end = () => {
    svg.removeEventListener("pointermove", follow);
    onEnd(moved);
  };
  svg.setPointerCapture(event.pointerId);
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerup", end, { once: true });
}
