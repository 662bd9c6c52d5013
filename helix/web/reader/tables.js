// Tables of a document as tables. A value is a slice of the document's text, and is marked where it
// lies in a passage; a row's label where the passage begins at its line.
//
//   <${TableBlock} block=${block} text=${text} marks=${marks} />     a table as the server stored it
//   <${Grid} … />                                                   lines such as "| a | b |"
import { html } from "../html.js";
import { Slice } from "./marks.js";

export function TableBlock({ block, text, marks }) {
  const { table, first, last } = block;
  const depth = Math.max(0, ...table.columns.map((path) => path.length));
  const cells = byRow(table, first, last);
  const inside = marks.filter((mark) => mark.start < block.end && block.start < mark.end);
  const labelled = table.rows.some((path) => path.length > 0);
  const corner = labelled && cornerOf(table, text, first, last);
  const numbers = numberColumns(cells, text);
  const named = [table.caption, table.units].filter(Boolean).join(" ");
  const rows = [];
  let group = "";
  for (let row = first; row < last; row += 1) {
    const path = table.rows[row];
    const above = path.slice(0, -1).join(" › ");
    if (above && above !== group) {
      rows.push(html`<tr key=${`group ${row}`} class="group"><th scope="rowgroup" colspan=${table.columns.length + 1}>${above}</th></tr>`);
    }
    group = above;
    rows.push(html`<${Row} key=${row} label=${path.at(-1) || ""} inner=${Boolean(above)} labelled=${labelled} line=${table.lines[row]} cells=${cells.get(row)} columns=${table.columns.length} text=${text} marks=${inside} />`);
  }
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label=${named || "Table"}><table class="document-table">
    ${named && first === 0 && html`<caption>${outside(inside, table, first, last) ? html`<mark class=${outside(inside, table, first, last).kind}>${named}</mark>` : named}</caption>`}
    <thead>${headerRows(table.columns, depth, numbers).map((row, n) => html`<tr key=${n}>${n === 0 && labelled && (corner ? html`<th scope="col" rowspan=${depth}>${corner}</th>` : html`<td rowspan=${depth}></td>`)}${row}</tr>`)}</thead>
    <tbody>${rows}</tbody></table></div>`;
}

function Row({ label, inner, labelled, line, cells, columns, text, marks }) {
  const mark = marks.find((one) => one.start <= line.start && line.start < one.end);
  return html`<tr>${labelled && html`<th scope="row" class=${inner ? "inner" : undefined}>${mark && label ? html`<mark class=${mark.kind}>${label}</mark>` : label}</th>`}
    ${Array.from({ length: columns }, (_, column) => {
      const there = cells?.get(column) || [];
      const number = isNumber(there, text);
      return html`<td key=${column} class=${number ? "number" : undefined}>${there.map((cell, n) => html`${n > 0 && " "}<${Slice} text=${text} start=${cell.start} end=${cell.end} marks=${marks} />`)}</td>`;
    })}</tr>`;
}

const NUMBER = /^[\s$€£¥(+\-–—]*\.?\d[\d.,:/-]*[\s%)]*$|^[—–-]$/;

const isNumber = (there, text) => there.length === 1 && NUMBER.test(text.slice(there[0].start, there[0].end));

// The columns with a number in them: their headers stand above it, at the end.
const numberColumns = (cells, text) => new Set([...cells.values()].flatMap((row) => [...row].flatMap(([column, there]) => (isNumber(there, text) ? [column] : []))));

// The name of the column of the labels. It is stored in the lines alone: "City: Ghent | Rate: 100".
function cornerOf(table, text, first, last) {
  for (let row = first; row < last; row += 1) {
    const { [row]: line } = table.lines;
    const label = table.rows[row].length === 1 ? `: ${table.rows[row][0]}` : "";
    const said = text.slice(line.start, line.end);
    const at = label ? said.indexOf(label) : -1;
    if (at > 0 && /^( \||$)/.test(said.slice(at + label.length))) return said.slice(0, at);
  }
  return "";
}

function byRow(table, first, last) {
  const rows = new Map();
  for (const cell of table.cells) {
    if (cell.row < first || cell.row >= last) continue;
    if (!rows.has(cell.row)) rows.set(cell.row, new Map());
    const row = rows.get(cell.row);
    row.set(cell.column, [...(row.get(cell.column) || []), cell]);
  }
  return rows;
}

// A passage that is in the table but in no row of it: its caption.
function outside(marks, table, first, last) {
  const lines = table.lines.slice(first, last);
  return marks.find((mark) => !lines.some((line) => mark.start < line.end && line.start < mark.end));
}

// Equal headers side by side are one that spans; a path shorter than the others reaches down.
function headerRows(columns, depth, numbers) {
  return Array.from({ length: depth }, (_, level) => {
    const found = [];
    for (let column = 0; column < columns.length;) {
      const path = columns[column];
      let next = column + 1;
      if (level < path.length) {
        const last = level === path.length - 1;
        while (!last && next < columns.length && same(path, columns[next], level)) next += 1;
        const span = next - column;
        found.push(html`<th key=${column} scope=${span > 1 ? "colgroup" : "col"} class=${span === 1 && numbers.has(column) ? "number" : undefined} colspan=${span} rowspan=${last ? depth - level : 1}>${path[level]}</th>`);
      } else if (!path.length && level === 0) {
        found.push(html`<td key=${column} rowspan=${depth}></td>`);
      }
      column = next;
    }
    return found;
  });
}

function same(one, other, level) {
  return other.length > level + 1 && one.slice(0, level + 1).every((name, n) => name === other[n]);
}

export function Grid({ block, text, marks }) {
  const rows = gridRows(text, block);
  const ruled = rows.length > 1 && rows[1].every(({ start, end }) => /^-*$/.test(text.slice(start, end)));
  const cell = ({ start, end }) => html`<${Slice} text=${text} start=${start} end=${end} marks=${marks} />`;
  const body = ruled ? rows.slice(2) : rows;
  return html`<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table class="document-table">
    ${ruled && html`<thead><tr>${rows[0].map((one) => html`<th key=${one.start} scope="col">${cell(one)}</th>`)}</tr></thead>`}
    <tbody>${body.map((row) => html`<tr key=${row[0]?.start}>${row.map((one) => html`<td key=${one.start}>${cell(one)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function gridRows(text, { start, end }) {
  let from = start;
  return text.slice(start, end).split("\n").map((line) => {
    let place = from + 1;
    from += line.length + 1;
    const inner = line.replace(/^\|/, "").replace(/\|$/, "");
    return inner.split("|").map((value) => {
      const found = { start: place + (value.length - value.trimStart().length), end: place + value.trimEnd().length };
      place += value.length + 1;
      return found;
    });
  });
}
