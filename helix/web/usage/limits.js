// Limits of usage: what is left of one's own, and for owners those of everybody, to set.
//
//   <${Own} limits=${own} />    <${Limits} told=${GET /v1/usage/limits} onSaved=${f} />
import { call } from "../api.js";
import { Notice, toast } from "../components.js";
import { momentOf } from "../dates.js";
import { html, useState } from "../html.js";
import { counted, dollars, nameOf } from "./words.js";

const FIELDS = {
  questions_day: "Questions a day", questions_month: "Questions a month", tokens_day: "Tokens a day", tokens_month: "Tokens a month",
  cost_usd_day: "US dollars a day", cost_usd_month: "US dollars a month",
};
const idOf = ({ person_id: person, key_id: key }) => (person ? `person ${person}` : key ? `key ${key}` : "");

export function Own({ limits }) {
  if (!limits.length) return null;
  return html`<section aria-labelledby="own-limits"><h2 id="own-limits">Your limits</h2><ul class="own-limits">${limits.map((one) => {
    const { measure, period, most, used, ends_at: end } = one;
    const [n, of] = measure === "cost_usd" ? [dollars(used), dollars(most)] : [counted(used), `${counted(most)} ${measure}`];
    const name = `${n} of ${of} ${period === "day" ? "today" : "this month"}${one.of === "key" ? " by this key" : ""}`;
    return html`<li key=${name}><span>${name}</span><progress max=${most || 1} value=${most ? Math.min(used, most) : 1} aria-label=${name}></progress>
      <span class="hint">${used >= most ? "Used up until" : "Counted anew from"} ${momentOf(end)}</span></li>`;
  })}</ul></section>`;
}

export function Limits({ told: { all, holders }, onSaved }) {
  const [whose, setWhose] = useState("");
  const everybody = { person_id: null, key_id: null };
  const shown = [everybody, ...holders];
  const holder = shown.find((one) => idOf(one) === whose) ?? everybody;
  const present = all.find((one) => idOf(one) === idOf(holder));
  return html`<section aria-labelledby="limits"><h2 id="limits">Limits</h2>
    <p class="hint">They hold from the next question on. Past one, a question is refused until the day or month ends, in UTC.</p>
    <ul class="sets">${all.map((one) => html`<li key=${idOf(one)}><span>${nameOf(one)}</span><span class="hint">${Object.entries(FIELDS).filter(([name]) => one[name] !== null).map(([name, title]) => `${title}: ${counted(one[name])}`).join(", ")}</span></li>`)}</ul>
    <label class="field">Limits of <select value=${whose} onChange=${(event) => setWhose(event.target.value)}>
      ${shown.map((one) => html`<option key=${idOf(one)} value=${idOf(one)}>${idOf(one) ? nameOf(one) : "Everybody without limits of their own"}</option>`)}</select></label>
    <${Form} key=${`${whose} ${JSON.stringify(present ?? null)}`} holder=${holder} present=${present} onSaved=${onSaved} /></section>`;
}

function Form({ holder: { person_id: person, key_id: key }, present, onSaved }) {
  const [problem, setProblem] = useState("");
  const save = async (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const given = Object.keys(FIELDS).map((name) => [name, elements[name].value === "" ? null : Number(elements[name].value)]);
    setProblem("");
    try {
      await call("PUT /v1/usage/limits", { body: { person_id: person, key_id: key, ...Object.fromEntries(given) } });
      toast("Saved: the limits hold from the next question on");
      onSaved();
    } catch (failed) {
      setProblem(failed.message);
    }
  };
  return html`<form class="form usage-limits" onSubmit=${save}>
    ${Object.entries(FIELDS).map(([name, title]) => html`<label key=${name} class="field">${title}
      <input type="number" name=${name} min="0" step=${name.startsWith("cost") ? "any" : "1"} inputmode="decimal" placeholder="no limit" defaultValue=${present?.[name] ?? ""} /></label>`)}
    ${problem && html`<${Notice} kind="error">${problem}</>`}
    <div class="form-end"><button class="button main"><span>Save limits</span></button></div></form>`;
}
