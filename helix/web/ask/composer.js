// The question box. Enter sends, Shift+Enter breaks the line, Escape stops what is running, the arrow
// up brings back what was asked before. Images come by their button, pasted or dropped, where the model
// can look at them; any other file is put to the conversation alone.
//
//   <${Composer} conversation=${id} scope=${scope} running=${b} onAsk=${(question, images) => …}
//      onStop=${f} />      images: those of the conversation that it is about, [{ id, name }]
import { Icon } from "../components.js";
import { askedBefore, fits } from "../conversations/asking.js";
import { attach } from "../conversations/attached.js";
import { AttachButton, Attachments } from "../conversations/attachments.js";
import { draftOf, setDraft, useDraft, useDraftImages } from "../conversations/drafts.js";
import { choose, isImage, sent, taken, unchoose } from "../conversations/images.js";
import { thread } from "../conversations/thread.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { filesOf } from "../library/drop.js";
import { Mode } from "./mode.js";
import { useModel } from "./model.js";
import { PicturePicker, Pictures } from "./picture.js";
import { Microphone } from "./voice.js";

export function Composer({ conversation, scope, running, onAsk, onStop }) {
  const text = useDraft(conversation);
  const type = (now) => setDraft(conversation, now);
  const recalled = useRecalled();
  const [over, setOver] = useState(false);
  const sees = useModel()?.images;
  const images = useDraftImages(conversation);
  const sending = useRef(false);
  const box = useRef(null);
  const grow = () => {
    box.current.style.blockSize = "auto";
    box.current.style.blockSize = `${Math.min(box.current.scrollHeight, 220)}px`;
  };
  useLayoutEffect(grow, [text]);
  useEffect(() => {
    addEventListener("resize", grow);
    // a phone's keyboard would cover half of the page
    if (matchMedia("(min-width: 48rem)").matches) box.current.focus({ preventScroll: true });
    return () => removeEventListener("resize", grow);
  }, []);
  const put = (files) => {
    const pictures = files.filter(isImage);
    const others = files.filter((file) => !isImage(file));
    if (pictures.length) choose(conversation, pictures);
    if (others.length) attach(others, scope);
    box.current.focus({ preventScroll: true });
  };
  const send = () => {
    const question = text.trim();
    if (!question || sending.current) return;
    if (!fits(question)) return;
    if (images.length) return sendImages();
    type("");
    return onAsk(question, []);
  };
  // What was typed stays until the conversation has the images.
  const sendImages = async () => {
    sending.current = true;
    const found = await sent(conversation, scope);
    sending.current = false;
    if (!found || thread.get().id !== found.conversation) return;
    const question = draftOf(found.conversation).trim();
    taken(found.conversation);
    if (question) onAsk(question, found.images);
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
      type(found);
    }
  };
  const onPaste = (event) => {
    const files = [...event.clipboardData.files];
    if (!files.length) return;
    event.preventDefault();
    put(files);
  };
  const onDrop = async (event) => {
    setOver(false);
    if (!event.dataTransfer.types.includes("Files")) return; // an address goes to the library
    event.preventDefault();
    put(await filesOf(event.dataTransfer));
  };
  const onDragOver = (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return html`<form class=${over ? "composer over" : "composer"} onSubmit=${(event) => { event.preventDefault(); send(); }}
      onDragOver=${onDragOver} onDragLeave=${() => setOver(false)} onDrop=${onDrop}>
    ${images.length > 0 && html`<${Pictures} images=${images} onRemove=${(image) => { unchoose(conversation, image); box.current.focus(); }} />
      <p class="hint">The question is about ${images.length > 1 ? "these images" : "this image"}. No document is searched.</p>`}
    <${Attachments} conversation=${conversation} />
    <label class="unseen" for="question">Your question</label>
    <textarea id="question" ref=${box} rows="1" value=${text} placeholder=${images.length > 1 ? "Ask about these images…" : images.length ? "Ask about this image…" : "Ask your documents…"}
      aria-describedby="keys" onInput=${(event) => type(event.target.value)} onKeyDown=${onKeyDown}
      onPaste=${onPaste}></textarea>
    <div class="composer-tools"><${AttachButton} onPick=${put} />${sees && html`<${PicturePicker} onPick=${put} />`}<${Microphone} onText=${(said) => { type(`${text} ${said}`.trim()); box.current.focus(); }} /><${Mode} />
      <span class="hint keys" id="keys">${running ? "Esc to stop" : "Enter to send, Shift+Enter for a new line"}</span>
      ${running && html`<button type="button" class="round stop" aria-label="Stop" title="Stop (Esc)" onClick=${onStop}><${Icon} name="stop" /></button>`}
      <button class="round send" aria-label="Ask" title="Ask (Enter)" disabled=${!text.trim()}><${Icon} name="send" /></button>
    </div>
  </form>`;
}

// Up and down through what was asked, while the box is empty or has such a question as it was.
function useRecalled() {
  const back = useRef(0); // how many questions ago; 0: none
  return (text, step) => {
    const asked = askedBefore();
    const now = back.current && text === asked[back.current - 1] ? back.current : 0;
    const next = now + step;
    if ((text && !now) || next < 0 || next > asked.length) return null;
    back.current = next;
    return next ? asked[next - 1] : "";
  };
}
