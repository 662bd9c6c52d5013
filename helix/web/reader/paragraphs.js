// Paragraphs that whoever wrote them broke into lines: they are filled anew, to the width that there is.
//
//   filled(text, block)      [block]: one for each item in it, `filled` where its lines are one text,
//                           code where they are columns
//
// Told by their shape: lines of several words, each so long that the next one's first word had no room
// below the longest, all of them at one indent but the first. Columns stand apart by several spaces.
export const ITEM = /^( *)(?:[-–•▪◦*]|\d{1,3}[.)])[ \t]+\S/;
const NARROWEST = 45; // characters: what is narrower may be an address, a verse, a list
const RAGGED = 12; // characters that a line may lack: some break lines by hand
const WORDS = 4; // in a line
const COLUMNS = /\t|\S {3,}\S|[^\s.:;!?)"'”’] {2}\S/; // two spaces end a sentence on a typewriter
const WIDE = /\S {3,}\S/;
const MARKED = /[|{}]|^\s*[>$#%]/;

const indentOf = (line) => line.length - line.trimStart().length;

function isFilled(lines, isItem) {
  if (lines.length < 2) return false;
  const widest = lines.reduce((most, { length }) => Math.max(most, length), 0);
  const [first, indent] = [indentOf(lines[0]), indentOf(lines[1])];
  if (widest < NARROWEST || (!isItem && first < indent)) return false; // what a line opens, such as code
  return lines.every((line, n) => {
    if (COLUMNS.test(line.trim()) || MARKED.test(line) || (n > 0 && indentOf(line) !== indent)) return false;
    const [next] = lines[n + 1]?.trim().split(/\s/, 1) ?? [""];
    return !next || (line.trim().split(/\s+/).length >= WORDS && line.length + 1 + next.length + RAGGED > widest);
  });
}

// Columns stand below each other where all characters are as wide.
const isTable = (lines) => lines.length > 1 && lines.filter((line) => WIDE.test(line)).length * 2 >= lines.length;

export function filled(text, block) {
  if (block.kind !== "paragraph" && block.kind !== "item") return [block];
  const found = [];
  let lines = [];
  let start = block.start;
  const close = (end) => {
    const isItem = ITEM.test(lines[0]);
    const own = isFilled(lines, isItem) ? { filled: true, hanging: isItem, indent: indentOf(lines[isItem ? 0 : 1]) } : {};
    const before = found.at(-1);
    // lines as they stand belong together
    if (before && !own.filled && !before.filled) before.end = end;
    else found.push({ ...block, ...own, start, end, more: found.length > 0 });
    start = end + 1;
    lines = [];
  };
  let place = block.start;
  for (const line of text.slice(block.start, block.end).split("\n")) {
    if (lines.length && ITEM.test(line)) close(place - 1);
    lines.push(line.trimEnd());
    place += line.length + 1;
  }
  close(block.end);
  return found.map((one) => (isTable(text.slice(one.start, one.end).split("\n")) ? { ...one, kind: "code" } : one));
}
