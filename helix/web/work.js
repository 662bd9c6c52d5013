// What a form or a button does, and what came of it.
//
//   const { busy, error, on, run } = useWork()     on(work): a form's onSubmit, which calls work(FormData, form);
//                                             run(work): the same for a button; what they throw is `error`
//   <${Confirmed} title="Delete Board?" about="…" action="Delete" onConfirm=${f} icon="bin">Delete space</>
//                                             a button that asks first; while f fails, the dialog stays and says why
//   <${Sure} action="Delete" onConfirm=${f} onClose=${f}>…</>      what is inside such a dialog
import { Button, Dialog, Notice, toast } from "./components.js";
import { html, useEffect, useRef, useState } from "./html.js";

export function useWork() {
  const [state, setState] = useState({ busy: false, error: "" });
  const run = async (work) => {
    setState({ busy: true, error: "" });
    try {
      await work();
      setState({ busy: false, error: "" });
    } catch (error) {
      setState({ busy: false, error: error.message });
    }
  };
  const on = (work) => (event) => {
    event.preventDefault();
    const form = event.target;
    return run(() => work(new FormData(form), form));
  };
  return { ...state, run, on };
}

export function Confirmed({ title, about, action, onConfirm, children, ...button }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const asked = useRef(false);
  useEffect(() => () => { // with what was removed goes its button
    if (asked.current && document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }, []);
  const ask = () => {
    asked.current = true;
    setOpen(true);
  };
  return html`<${Button} onClick=${ask} ...${button}>${children}</>
    <${Dialog} title=${title} open=${open} onClose=${close}><${Sure} action=${action} onConfirm=${onConfirm} onClose=${close}><p>${about}</p></></${Dialog}>`;
}

export function Sure({ action, onConfirm, onClose, children }) {
  const { busy, error, run } = useWork();
  const end = useRef(null);
  const open = () => end.current?.closest("dialog").open; // closed by Escape, it is still there for a moment
  const confirm = () => run(async () => {
    try {
      await onConfirm();
      if (open()) onClose(); // else another may be open by now
    } catch (problem) {
      if (!open()) toast(problem.message);
      throw problem;
    }
  });
  return html`${children}${error && html`<${Notice} kind="error">${error}</>`}
    <div class="form-end" ref=${end}><${Button} onClick=${onClose}>Cancel</><${Button} kind="danger" disabled=${busy} onClick=${confirm}>${action}</></div>`;
}
