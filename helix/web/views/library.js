// #/library?q=&sort=&status=: what there is to ask; add to it, look at it, take from it.
import { Add } from "../library/add.js";
import { Documents } from "../library/documents.js";
import { follow, runs } from "../library/follow.js";
import { library } from "../library/library-api.js";
import { Runs } from "../library/runs.js";
import { html, useEffect } from "../html.js";
import { useStore } from "../store.js";

export default function Library({ route }) {
  const { list, changes } = useStore(runs);
  useEffect(() => {
    // what somebody began elsewhere, or before this page was loaded
    const open = ["queued", "running"].map((status) => library.runs({ status, limit: 5 }));
    Promise.all(open).then((found) => found.flatMap(({ runs: some }) => some).forEach((run) => follow(run.id)), () => {});
  }, []);
  return html`<div class="page library">
    <h1>Library</h1>
    <${Add} />
    <${Runs} list=${list} />
    <${Documents} route=${route} changed=${changes} />
  </div>`;
}
