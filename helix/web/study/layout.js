// The positions of a mind map's nodes: a tree whose branches do not overlap, except for dragged nodes.
//
//   laidOut(nodes, isDown)      nodes: [{ id, parent, label, x, y, folded }] -> { shown, isDown, width, height, left, top }
//       shown: [{ node, x, y, width, depth, parent, children, hidden }] in the order in which one reads
//       the tree; x and y are the middle of a node, hidden says how many are folded away below it
import { shortened } from "../text.js";

const [SIGN, PADDING, HEIGHT, GAP] = [7.4, 28, 34, 44]; // px: a letter, beside the words, a node, between levels

export const NODE_HEIGHT = HEIGHT;
export const wordsOf = ({ label }) => shortened(label, 36);
const widthOf = (node) => Math.round(wordsOf(node).length * SIGN + PADDING);

export function laidOut(nodes, isDown) {
  const below = Map.groupBy(nodes, ({ parent }) => parent ?? null);
  const step = isDown ? Math.max(...nodes.map(widthOf)) + 16 : HEIGHT + 14;
  const found = [];
  gather(branchOf(below.get(null)[0], below), { depth: 0, parent: null, at: 0 }, found);
  const levels = levelsOf(found);
  const shown = found.map(({ node, depth, parent, at, children }) => {
    const [x, y] = isDown ? [at * step, depth * (HEIGHT + GAP)] : [levels[depth], at * step];
    return {
      node, x: node.x ?? x, y: node.y ?? y, width: widthOf(node), depth, parent,
      children: children.map((child) => child.node.id), hidden: node.folded ? countBelow(below, node.id) : 0,
    };
  });
  return { shown, isDown, ...boundsOf(shown) };
}

// A node with its children's, each `at` a place relative to it: as near to the one before as all their levels
// allow, a step between siblings and two between cousins. `sides` has the least and most place of each level.
function branchOf(node, below) {
  const sides = [];
  const children = (node.folded ? [] : below.get(node.id) ?? []).map((one) => branchOf(one, below));
  for (const child of children) {
    child.at = Math.max(...child.sides.map(([least], level) => (sides[level] ? sides[level][1] - least + (level ? 2 : 1) : 0)));
    child.sides.forEach(([least, most], level) => { sides[level] = [sides[level]?.[0] ?? least + child.at, most + child.at]; });
  }
  const middle = (children.at(-1)?.at ?? 0) / 2;
  for (const child of children) child.at -= middle;
  return { node, children, sides: [[0, 0], ...sides.map(([least, most]) => [least - middle, most - middle])] };
}

function gather({ node, children }, { depth, parent, at }, found) {
  found.push({ node, children, depth, parent, at });
  for (const child of children) gather(child, { depth: depth + 1, parent: node.id, at: at + child.at }, found);
}

// The middle of each level from left to right.
function levelsOf(found) {
  const widths = [];
  for (const { depth, node } of found) widths[depth] = Math.max(widths[depth] ?? 0, widthOf(node));
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
