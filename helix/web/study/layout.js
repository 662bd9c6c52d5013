// The positions of a mind map's nodes: a tree layout by d3-hierarchy, except for dragged nodes.
//
//   laidOut(nodes, isDown)      nodes: [{ id, parent, label, x, y, folded }] -> { shown, isDown, width, height, left, top }
//       shown: [{ node, x, y, width, depth, parent, children, hidden }] in the order in which one reads
//       the tree; x and y are the middle of a node, hidden says how many are folded away below it
import { hierarchy, tree } from "../vendor/d3-hierarchy.mjs";
import { shortened } from "../text.js";

const [SIGN, PADDING, HEIGHT, GAP] = [7.4, 28, 34, 44]; // px: a letter, beside the words, a node, between levels

export const NODE_HEIGHT = HEIGHT;
export const wordsOf = ({ label }) => shortened(label, 36);
const widthOf = (node) => Math.round(wordsOf(node).length * SIGN + PADDING);

export function laidOut(nodes, isDown) {
  const below = Map.groupBy(nodes, ({ parent }) => parent ?? null);
  const root = hierarchy(below.get(null)[0], ({ id, folded }) => (folded ? null : below.get(id)));
  const widest = Math.max(...nodes.map(widthOf));
  const levels = levelsOf(root);
  tree().nodeSize([isDown ? widest + 16 : HEIGHT + 14, 1])(root);
  const shown = [];
  root.eachBefore((one) => {
    const node = one.data;
    const [x, y] = isDown ? [one.x, one.depth * (HEIGHT + GAP)] : [levels[one.depth], one.x];
    shown.push({
      node, x: node.x ?? x, y: node.y ?? y, width: widthOf(node), depth: one.depth, parent: one.parent?.data.id ?? null,
      children: (one.children ?? []).map(({ data }) => data.id), hidden: node.folded ? countBelow(below, node.id) : 0,
    });
  });
  return { shown, isDown, ...boundsOf(shown) };
}

// The middle of each level from left to right.
function levelsOf(root) {
  const widths = [];
  root.each(({ depth, data }) => { widths[depth] = Math.max(widths[depth] ?? 0, widthOf(data)); });
  let left = 0;
  return widths.map((width) => {
    const middle = left + width / 2;
    left += width + GAP;
    return middle;
  });
}

function countBelow(below, id) {
  return (below.get(id) ?? []).reduce((sum, node) => sum + 1 + countBelow(below, node.id), 0);
}

function boundsOf(shown) {
  const left = Math.min(...shown.map(({ x, width }) => x - width / 2)) - 24;
  const right = Math.max(...shown.map(({ x, width }) => x + width / 2)) + 48;
  const top = Math.min(...shown.map(({ y }) => y)) - HEIGHT;
  const bottom = Math.max(...shown.map(({ y }) => y)) + HEIGHT;
  return { left, top, width: right - left, height: bottom - top };
}
