// #/progress: totals, a heatmap of days, and badges. Pressing a day shows its actions.
import { chosen, dateOf } from "../dates.js";
import { call } from "../api.js";
import { Button, Dialog, Icon, Notice, Spinner, toast } from "../components.js";
import { html, useRef, useState } from "../html.js";
import { Failure, useData } from "../data.js";

const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const LEVELS = ["nothing", "under 15 minutes", "15 to 60 minutes", "1 to 3 hours", "over 3 hours"];
const WEEK = ["Mon", "", "Wed", "", "Fri", "", ""];
const dated = (date) => dateOf(`${date}T12:00`, { weekday: "short", day: "numeric", month: "short" });
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const lasted = (minutes) => (minutes < 60 ? counted(minutes, "minute") : `${Math.floor(minutes / 60)} h ${minutes % 60} min`);
const worded = (actions) => Object.entries(actions).filter(([, n]) => n).map(([name, n]) => `${name.replaceAll("_", " ")}: ${n.toLocaleString("en")}`);

export default function Progress() {
  const { data, error, reload } = useData((signal) => call("GET /v1/progress", { query: { time_zone }, signal }), []);
  return html`<div class="page progress"><h1>Progress</h1>
    ${error?.status === 404 ? html`<${Notice} title="Progress is not recorded here."><p>The operator of this server has switched it off (HELIX_PROGRESS=off).</p></>` : error && html`<${Failure} error=${error} />`}
    ${!data && !error && html`<${Spinner} label="Loading" />`}
    ${data && !data.on && html`<${Off} any=${data.totals.days_active > 0} onChange=${reload} />`}
    ${data && (data.on || data.totals.days_active > 0) && html`<${Totals} data=${data} /><${Days} days=${data.days} /><${Badges} badges=${data.badges} /><${Forget} isOn=${data.on} onForgotten=${reload} />`}</div>`;
}

const turn = (on, then) => call("PATCH /v1/progress", { body: { on } }).then(then, (error) => toast(error.message));

// Nothing is recorded of anybody who has not asked for it.
function Off({ any, onChange }) {
  return html`<${Notice} title=${any ? "Recording is off." : "Nothing is recorded yet."}>
    <p>Progress records days, minutes and activity, for you only: no text, no document. It is off until you turn it on.</p>
    <${Button} kind="main" onClick=${() => turn(true, onChange)}>Turn on</></>`;
}

function Totals({ data: { totals, streak } }) {
  const rows = [
    ["Days in a row", `${streak.current}${streak.longest > streak.current ? `, longest ${streak.longest}` : ""}`],
    ["Time", lasted(totals.minutes)], ["Sessions", totals.sessions.toLocaleString("en")], ["Days", totals.days_active.toLocaleString("en")],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <details class="hint"><summary>Activity</summary><ul>${worded(totals.actions).map((line) => html`<li key=${line}>${line}</li>`)}</ul></details>`;
}

// A column is a week from Monday on. Arrow keys go from day to day.
function Days({ days }) {
  const [chosen, setChosen] = useState(null);
  const grid = useRef(null);
  const first = (new Date(`${days[0].date}T12:00`).getDay() + 6) % 7;
  const onKeyDown = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -7, ArrowRight: 7 }[event.key];
    const boxes = [...grid.current.querySelectorAll("button")];
    const next = boxes[boxes.indexOf(event.target) + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return html`<section aria-labelledby="days"><h2 id="days">The last ${days.length} days</h2>
    <div class="heat" ref=${grid} role="group" aria-labelledby="days" onKeyDown=${onKeyDown}>${WEEK.map((name, n) => html`<span class="hint" key=${n} aria-hidden="true">${name}</span>`)}
      ${Array.from({ length: first }, (_, n) => html`<span key=${`before${n}`}></span>`)}
      ${days.map(({ date, minutes, level }, n) => html`<button type="button" key=${date} class=${`day level-${level}`} tabindex=${n === days.length - 1 || chosen === date ? 0 : -1} aria-pressed=${chosen === date}
        title=${`${dated(date)}: ${lasted(minutes)}`} aria-label=${`${dated(date)}: ${lasted(minutes)}`} onClick=${() => setChosen(date)}></button>`)}</div>
    <p class="hint legend">${LEVELS.map((label, level) => html`<span key=${level}><i class=${`day level-${level}`}></i>${label}</span>`)}</p>
    ${chosen && html`<${Day} key=${chosen} date=${chosen} />`}</section>`;
}

function Day({ date }) {
  const { data, error } = useData((signal) => call("GET /v1/progress/days/{day}", { path: { day: date }, query: { time_zone }, signal }), [date]);
  const at = (moment) => new Date(moment).toLocaleTimeString(chosen() || undefined, { hour: "2-digit", minute: "2-digit", timeZone: time_zone });
  return html`<div class="day-data" role="status"><h3>${dated(date)}</h3>${error && html`<${Failure} error=${error} />`}
    ${data && !data.sessions.length && html`<p class="hint">No activity.</p>`}
    ${data && html`<ul>${data.sessions.map((one) => html`<li key=${one.from}>${at(one.from)} to ${at(one.to)}, ${lasted(one.minutes)}</li>`)}</ul><p class="hint">${worded(data.actions).join(" · ")}</p>`}
    ${data?.badges.length > 0 && html`<p class="earned-then">Badges: ${data.badges.map(({ code, icon, title }) => html`<span key=${code}><${Icon} name=${icon} />${title}</span>`)}</p>`}</div>`;
}

function Badges({ badges }) {
  const earned = badges.filter((one) => one.earned).length;
  return html`<section aria-labelledby="badges"><h2 id="badges">Badges <span class="hint">${earned} of ${badges.length}</span></h2>
    <ul class="badges">${badges.map(({ code, title, icon, text, target, value, earned: has }) => html`<li key=${code} class=${has ? "badge earned" : "badge"}>
      <strong><${Icon} name=${icon} />${title}${has && html`<${Icon} name="check" />`}</strong><span class="hint">${text}</span>
      ${!has && html`<progress max=${target} value=${Math.min(value, target)} aria-label=${`${title}: ${value} of ${target}`}></progress>`}</li>`)}</ul></section>`;
}

function Forget({ isOn, onForgotten }) {
  const [open, setOpen] = useState(false);
  const forget = () => call("DELETE /v1/progress").then(() => {
    setOpen(false);
    onForgotten();
  }, (error) => toast(error.message));
  return html`<p class="page-end">${isOn && html`<${Button} onClick=${() => turn(false, onForgotten)}>Turn off</>`} <${Button} icon="bin" onClick=${() => setOpen(true)}>Delete all progress</></p>
    <${Dialog} title="Delete all progress?" open=${open} onClose=${() => setOpen(false)}><p>Days, sessions and badges are deleted, and nothing more is recorded until you turn it on again. Your study sets stay.</p>
      <div class="form-end"><${Button} onClick=${() => setOpen(false)}>Cancel</><${Button} kind="danger" onClick=${forget}>Delete</></div></${Dialog}>`;
}
