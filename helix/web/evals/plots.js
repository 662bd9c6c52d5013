// The two plots of a report, as SVG that scales with the page. Their numbers stand in the table.
import { html } from "../html.js";

const WIDTH = 760;
const NAMES = 230;
const ROW = 26;
const TOP = 26;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

const at = (share) => NAMES + (WIDTH - NAMES - 24) * Math.min(Math.max(share, 0), 1);

function Axis({ most, height }) {
  return TICKS.map((tick) => html`<g key=${tick}><line class="axis" x1=${at(tick)} x2=${at(tick)} y1=${TOP} y2=${height} />
    <text x=${at(tick)} y="16" text-anchor="middle">${(tick * most).toFixed(2)}</text></g>`);
}

export function Forest({ rows }) {
  const height = TOP + ROW * rows.length + 6;
  return html`<svg class="plot" viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label="Each measure with its 95% interval; the table below has the numbers">
    <${Axis} most=${1} height=${height} />
    ${rows.map((row, n) => {
      const y = TOP + ROW * n + ROW / 2;
      return html`<g key=${row.name}><text x=${NAMES - 12} y=${y + 4} text-anchor="end">${row.name}</text>
        <line class="range" x1=${at(row.low)} x2=${at(row.high)} y1=${y} y2=${y} /><circle class="good" cx=${at(row.value)} cy=${y} r="5"><title>${`${row.name}: ${row.value.toFixed(3)}`}</title></circle></g>`;
    })}</svg>`;
}

export function Distances({ cases, ceiling }) {
  const known = cases.filter((one) => one.distance !== null);
  const most = Math.max(ceiling, ...known.map((one) => one.distance), 0.1) * 1.05;
  const groups = [["to be answered", known.filter((one) => !one.refusal)], ["to be refused", known.filter((one) => one.refusal)]];
  const height = TOP + 92 * groups.length;
  return html`<svg class="plot" viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label=${`Distances of ${known.length} questions against the gate at ${ceiling.toFixed(2)}`}>
    <${Axis} most=${most} height=${height} />
    ${groups.map(([name, list], group) => {
      const middle = TOP + 92 * group + 46;
      return html`<g key=${name}><text x=${NAMES - 12} y=${middle + 4} text-anchor="end">${name}</text>
        ${list.map((one, n) => html`<circle key=${one.id} class=${one.faults.length ? "bad" : "good"} cx=${at(one.distance / most)} cy=${middle + (((n * 7) % 15) - 7) * 4.4} r="4.5"><title>${`${one.question} (${one.distance.toFixed(3)})`}</title></circle>`)}</g>`;
    })}
    <line class="least" x1=${at(ceiling / most)} x2=${at(ceiling / most)} y1=${TOP} y2=${height} />
  </svg>`;
}
