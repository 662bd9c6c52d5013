// The question box. Enter sends, Shift+Enter breaks the line, Escape stops what is running.
//
//   <${Composer} running=${b} onAsk=${(question) => …} onStop=${f} />
// `extra` is drawn at the left of its tools: where an image picker belongs.
import { Icon } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";

const LONGEST = 4000; // characters; HELIX_MAX_QUESTION_CHARS of a server may say less

export function Composer({ running, onAsk, onStop, extra }) {
  const [text, setText] = useState("");
  const box = useRef(null);
  useLayoutEffect(() => {
    box.current.style.blockSize = "auto";
    box.current.style.blockSize = `${Math.min(box.current.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    // a phone's keyboard would cover half of the page
    if (matchMedia("(min-width: 48rem)").matches) box.current.focus({ preventScroll: true });
  }, []);
  const send = () => {
    const question = text.trim();
    if (!question) return;
    onAsk(question);
    setText("");
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return; // Enter chooses a candidate of an input method
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      onStop();
    }
  };
  return html`<form class="composer" onSubmit=${(event) => { event.preventDefault(); send(); }}>
    <label class="unseen" for="question">Your question</label>
    <textarea id="question" ref=${box} rows="1" value=${text} maxlength=${LONGEST} placeholder="Ask your documents…"
      aria-describedby="keys" onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}></textarea>
    <div class="composer-tools">${extra}
      <span class="hint keys" id="keys">${running ? "Esc stops" : "Enter sends, Shift+Enter breaks the line"}</span>
      ${running && html`<button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`}
      <button class="round send" aria-label="Ask" title="Ask (Enter)" disabled=${!text.trim()}><${Icon} name="send" /></button>
    </div>
  </form>`;
}
