// #/study: the list of sets; #/study/due: the due cards; #/study/{id}: one set.
import { panels } from "../ask/panel.js";
import { html } from "../html.js";
import { useStore } from "../store.js";
import { DueCards } from "../study/cards.js";
import { Home } from "../study/home.js";
import { Set } from "../study/set.js";
import { Panel } from "./ask.js";

export default function Study({ route }) {
  const { panel } = useStore(panels);
  const [place] = route.rest;
  return html`<div class=${`ask study ${panel ? "with-panel" : ""}`}><div class="thread"><div class="turns">
    ${place === "due" ? html`<${DueCards} />` : place ? html`<${Set} key=${place} id=${place} />` : html`<${Home} route=${route} />`}
  </div></div><${Panel} panel=${panel} turn=${null} /></div>`;
}
