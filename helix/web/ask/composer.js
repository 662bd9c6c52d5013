// The question box. Enter sends, Shift+Enter breaks the line, Escape stops what is running, the arrow
// up brings back what was asked before. An image comes by its button, pasted or dropped, where the
// model can look at one; any other file that is dropped goes to the library (library/anywhere.js).
//
//   <${Composer} running=${b} onAsk=${(question, picture) => …} onStop=${f} />   picture: or null
import { Icon, toast } from "../components.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { addFiles } from "../library/intake.js";
import { useAbout } from "../shell/about.js";
import { useStore } from "../store.js";
import { Picture, PicturePicker, isImage, pictureOf } from "./picture.js";
import { draft, setDraft, turns } from "./turns.js";

const LONGEST = 4000; // characters; HELIX_MAX_QUESTION_CHARS of a server may say less

export function Composer({ running, onAsk, onStop }) {
  const { text } = useStore(draft);
  const recalled = useRecalled();
  const [over, setOver] = useState(false);
  const { images } = useAbout();
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
  // Whether they were for this box: an image is, and what comes with it goes to the library.
  const put = (files) => {
    const pictures = [...files].filter(isImage);
    if (!pictures.length) return false;
    if (images === false) toast("The model that answers here cannot look at images.");
    else pick(pictures);
    keepFiles(files);
    box.current.focus({ preventScroll: true });
    return true;
  };
  const send = () => {
    const question = text.trim();
    if (!question) return;
    onAsk(question, take());
    setDraft("");
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return; // Enter chooses a candidate of an input method
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      onStop();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const found = recalled(text, event.key === "ArrowUp" ? 1 : -1);
      if (found === null) return;
      event.preventDefault();
      setDraft(found);
    }
  };
  const onPaste = (event) => {
    const { files } = event.clipboardData;
    if (put(files) || keepFiles(files)) event.preventDefault();
  };
  const onDrop = (event) => {
    setOver(false);
    if (put(event.dataTransfer.files)) event.preventDefault(); // or the library has it
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
      aria-describedby="keys" onInput=${(event) => setDraft(event.target.value)} onKeyDown=${onKeyDown}
      onPaste=${onPaste}></textarea>
    <div class="composer-tools">${images && html`<${PicturePicker} onPick=${put} />`}
      <span class="hint keys" id="keys">${running ? "Esc stops" : "Enter sends, Shift+Enter breaks the line"}</span>
      ${running && html`<button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`}
      <button class="round send" aria-label="Ask" title="Ask (Enter)" disabled=${!text.trim()}><${Icon} name="send" /></button>
    </div>
  </form>`;
}

// A file that is no image cannot be asked about alone: it goes to the library, and is asked there.
function keepFiles(files) {
  const others = [...files].filter((file) => !isImage(file));
  if (others.length) addFiles(others).catch((error) => toast(error.message));
  return others.length > 0;
}

// Up and down through what was asked, while the box is empty or has such a question as it was.
function useRecalled() {
  const back = useRef(0); // how many questions ago; 0: none
  return (text, step) => {
    const asked = turns.get().list.map(({ question }) => question).reverse();
    const now = back.current && text === asked[back.current - 1] ? back.current : 0;
    const next = now + step;
    if ((text && !now) || next < 0 || next > asked.length) return null;
    back.current = next;
    return next ? asked[next - 1] : "";
  };
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
