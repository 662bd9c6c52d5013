// The documents of a list, page by page, kept up to date where they change.
//
//   const { documents, total, next, loading, error, more, again, drop, put } = usePages(wanted, changes);
import { useCallback, useEffect, useRef, useState } from "../html.js";
import { library } from "./library-api.js";

const PAGE = 50;
const MOST = 200; // of one request
const KEPT = 1000; // of those that are shown, where something changed
const EMPTY = { documents: [], total: null, next: null, loading: true, error: "" };

export function usePages(wanted, changed) {
  const [state, setState] = useState(EMPTY);
  const [asked, ask] = useState(0);
  const turns = useRef({ begun: 0, shown: 0, wanted: "" }).current;
  turns.wanted = JSON.stringify(wanted);
  const now = useRef(state);
  now.current = state;
  const show = (turn, change) => {
    turns.shown = turn;
    setState({ ...now.current, ...change });
  };
  const load = async (before, after, count) => {
    const mine = (turns.begun += 1);
    const asks = JSON.stringify(wanted);
    try {
      const { total, next, ...page } = await library.list({ ...wanted, limit: Math.min(count, MOST), after });
      // the list may change faster than it comes: what is newer than what is shown is shown
      if (mine < turns.shown || asks !== turns.wanted) return;
      const documents = [...before, ...page.documents];
      if (next && count > MOST) load(documents, next, count - MOST);
      else show(mine, { documents: kept(now.current.documents, documents), total, next, loading: false, error: "" });
    } catch (error) {
      if (mine === turns.begun) setState({ ...now.current, loading: false, error: error.message });
    }
  };
  useEffect(() => {
    setState({ ...now.current, loading: now.current.total === null, error: "" });
    // where something changed, as many as are shown, so that nobody is thrown back to the top
    load([], undefined, Math.min(Math.max(PAGE, now.current.documents.length), KEPT));
  }, [JSON.stringify(wanted), changed, asked]);
  const more = useCallback(() => {
    if (now.current.loading || !now.current.next) return;
    setState({ ...now.current, loading: true });
    load(now.current.documents, now.current.next, PAGE);
  }, [JSON.stringify(wanted)]);
  // what was asked for before is older
  const drop = (id) => show(turns.begun + 1, {
    documents: now.current.documents.filter((one) => one.id !== id),
    total: Math.max(now.current.total - 1, 0),
  });
  const put = (changedOne) => show(turns.begun + 1, {
    documents: now.current.documents.map((one) => (one.id === changedOne.id ? changedOne : one)),
  });
  return { ...state, more, drop, put, again: () => ask((n) => n + 1) };
}

// A document that did not change stays the same object: its row is not drawn anew.
function kept(before, after) {
  const known = new Map(before.map((one) => [one.id, one]));
  return after.map((one) => (JSON.stringify(known.get(one.id)) === JSON.stringify(one) ? known.get(one.id) : one));
}
