// The question box. Enter sends, Shift+Enter breaks the line, Escape stops what is running. An
// image comes by its button, pasted or dropped.
//
//   <${Composer} running=${b} onAsk=${(question, picture) => …} onStop=${f} />   picture: or null
import { Icon } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { Picture, PicturePicker, pictureOf } from "./picture.js";

const LONGEST = 4000; // characters; HELIX_MAX_QUESTION_CHARS of a server may say less

export function Composer({ running, onAsk, onStop }) {
  const [text, setText] = useState("");
  const [over, setOver] = useState(false);
  const { picture, pick, take } = usePicture();
  const box = useRef(null);
  useLayoutEffect(() => {
    box.current.style.blockSize = "auto";
    box.current.style.blockSize = `${Math.min(box.current.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    // a phone's keyboard would cover half of the page
    if (matchMedia("(min-width: 48rem)").matches) box.current.focus({ preventScroll: true });
  }, []);
  const put = (files) => {
    if (!files.length) return false;
    pick(files);
    box.current.focus({ preventScroll: true });
    return true;
  };
  const send = () => {
    const question = text.trim();
    if (!question) return;
    onAsk(question, take());
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
  const onDrop = (event) => {
    setOver(false);
    if (put(event.dataTransfer.files)) event.preventDefault();
  };
  const onDragOver = (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return html`<form class=${over ? "composer over" : "composer"} onSubmit=${(event) => { event.preventDefault(); send(); }}
      onDragOver=${onDragOver} onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
    ${picture && html`<${Picture} key=${picture.url} picture=${picture} onRemove=${() => { pick([]); box.current.focus(); }} />`}
    <label class="unseen" for="question">Your question</label>
    <textarea id="question" ref=${box} rows="1" value=${text} maxlength=${LONGEST} placeholder=${picture ? "Ask about this image…" : "Ask your documents…"}
      aria-describedby="keys" onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}
      onPaste=${(event) => put(event.clipboardData.files) && event.preventDefault()}></textarea>
    <div class="composer-tools"><${PicturePicker} onPick=${put} />
      <span class="hint keys" id="keys">${running ? "Esc stops" : "Enter sends, Shift+Enter breaks the line"}</span>
      ${running && html`<button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`}
      <button class="round send" aria-label="Ask" title="Ask (Enter)" disabled=${!text.trim()}><${Icon} name="send" /></button>
    </div>
  </form>`;
}

// The image beside the text. What is taken is its question's; what is put away is let go of.
function usePicture() {
  const [picture, setPicture] = useState(null);
  const held = useRef(null);
  held.current = picture;
  useEffect(() => () => held.current && URL.revokeObjectURL(held.current.url), []);
  return {
    picture,
    pick: (files) => {
      if (picture) URL.revokeObjectURL(picture.url);
      setPicture(pictureOf(files));
    },
    take: () => {
      held.current = null;
      setPicture(null);
      return picture;
    },
  };
}
