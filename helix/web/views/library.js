// #/library?q=&tag=&status=&kind=&format=&when=&sort=&order=: what there is to ask, all of it or one
// collection; add to it, look at it, take from it. It shows at once what anybody changes.
import { Notice } from "../components.js";
import { Add } from "../library/add.js";
import { Cards } from "../library/cards.js";
import { CollectionHead, Collections } from "../library/collections.js";
import { Documents } from "../library/documents.js";
import { runs } from "../library/follow.js";
import { library } from "../library/library-api.js";
import { useLive } from "../library/live.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { mayEdit, useSpaces } from "../shell/spaces.js";
import { useStore } from "../store.js";

export default function Library({ route }) {
  const { changes } = useStore(runs);
  const { tag = "" } = route.query;
  const counts = useCounts(changes);
  useLive();
  const spaces = useSpaces();
  const empty = counts?.total === 0;
  return html`<div class=${`page library ${counts?.labels.length || tag ? "with-collections" : ""}`}>
    <${Collections} counts=${counts} tag=${tag} />
    <div class="library-main">
      ${tag ? html`<${CollectionHead} key=${tag} tag=${tag} counts=${counts} />` : html`<h1>${spaces.now && spaces.now.id ? spaces.now.name : "Library"}</h1>`}
      ${mayEdit(spaces) ? html`<${Add} tags=${tag ? [tag] : []} web=${counts?.web_imports} empty=${empty} space=${spaces.now} />`
        : empty && html`<${Notice} title="Nothing to read here yet."><p>Whoever keeps this space adds its documents.</p></>`}
      <${Cards} />
      <${Documents} key=${tag} route=${route} changed=${changes} counts=${counts} edits=${mayEdit(spaces)} />
    </div>
  </div>`;
}

function useCounts(changes) {
  const [counts, setCounts] = useState(null);
  const shown = useRef(-1);
  useEffect(() => {
    const show = (now) => {
      if (changes < shown.current) return;
      shown.current = changes;
      setCounts(now);
    };
    library.counts().then(show, () => {}); // the list says what is wrong
  }, [changes]);
  return counts;
}
