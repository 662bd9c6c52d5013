// Which documents of the list are chosen, by their boxes: one by one, a range with Shift, all that
// are shown, or all that match. Arrows go from box to box, Shift with them chooses, Ctrl+A chooses all shown, Delete deletes, Escape chooses none.
import { toast } from "../components.js";
import { useCallback, useEffect, useRef, useState } from "../html.js";
import { library } from "./library-api.js";

export function useChosen(documents, match, onDelete) {
  const [chosen, setChosen] = useState(new Set());
  const last = useRef(null); // where a range begins
  const shown = useRef(documents);
  shown.current = documents;
  const removing = useRef(onDelete);
  removing.current = onDelete;
  useEffect(() => { setChosen(new Set()); last.current = null; }, [JSON.stringify(match)]);

  const choose = useCallback((id, on, ranged) => {
    const from = ranged ? shown.current.findIndex((one) => one.id === last.current) : -1;
    const to = shown.current.findIndex((one) => one.id === id);
    const some = from < 0 ? [id] : shown.current.slice(Math.min(from, to), Math.max(from, to) + 1).map((one) => one.id);
    last.current = id;
    setChosen((now) => {
      const next = new Set(now);
      for (const one of some) on ? next.add(one) : next.delete(one);
      return next;
    });
  }, []);
  const all = useCallback(() => setChosen(new Set(shown.current.map((one) => one.id))), []);
  const onKey = useCallback((event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const boxes = [...document.querySelectorAll(".document .choose input")];
      const next = boxes[boxes.indexOf(event.target) + step];
      if (next) {
        next.focus();
        if (event.shiftKey) {
          choose(Number(event.target.dataset.id), true, false);
          choose(Number(next.dataset.id), true, false);
        }
      }
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) all();
    else if (event.key === "Delete") removing.current();
    else if (event.key === "Escape") setChosen(new Set());
    else return;
    event.preventDefault();
  }, []);
  const matching = async () => {
    try {
      setChosen(new Set((await library.ids(match)).ids));
    } catch (error) {
      toast(error.message);
    }
  };
  const none = () => {
    setChosen(new Set());
    requestAnimationFrame(() => { // what was pressed is gone: the keyboard stays in the list
      if (document.activeElement === document.body) document.querySelector(".document .choose input")?.focus({ preventScroll: true });
    });
  };
  return { chosen, choose, all, onKey, matching, none, keep: (ids) => setChosen(new Set(ids)) };
}
