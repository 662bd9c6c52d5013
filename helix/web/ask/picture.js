// Images beside a question: chosen for the next one, or those that one was about.
//
//   <${PicturePicker} onPick=${(files) => …} />
//   <${Pictures} images=${[{ name, url }]} onRemove=${(image) => …} />      url: of the file that was chosen
//   <${Pictures} images=${[{ id, name }]} conversation=${id} />             read from there when they come near
import { FileButton, Icon, IconButton } from "../components.js";
import { imageOf } from "../conversations/images.js";
import { html, useEffect, useRef, useState } from "../html.js";

const KINDS = "image/png,image/jpeg,image/webp,image/heic,image/heif";
const NEAR = "600px 0px"; // around what is seen

export function PicturePicker({ onPick }) {
  return html`<${FileButton} icon="image" label="Ask about an image" field="Images to ask about" accept=${KINDS} multiple=${true} onPick=${onPick} />`;
}

export function Pictures({ images, conversation, onRemove }) {
  return html`<div class="pictures" role="group" aria-label=${images.length > 1 ? "Images of the question" : "Image of the question"}>
    ${images.map((image) => html`<${Picture} key=${image.url ?? image.id} image=${image} conversation=${conversation} onRemove=${onRemove} />`)}</div>`;
}

function Picture({ image, conversation, onRemove }) {
  const { id, name } = image;
  const element = useRef(null);
  const [{ url, fault }, setState] = useState({ url: image.url });
  useEffect(() => {
    if (image.url) return undefined;
    let made = "";
    const near = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      near.disconnect();
      imageOf(conversation, id).then((blob) => {
        if (!element.current) return; // it was taken away meanwhile
        made = URL.createObjectURL(blob);
        setState({ url: made });
      }, ({ message }) => setState({ fault: message }));
    }, { rootMargin: NEAR });
    near.observe(element.current);
    return () => { near.disconnect(); URL.revokeObjectURL(made); };
  }, [conversation, id]);
  const broken = () => setState({ fault: "This browser cannot show it." });
  const shown = html`<img src=${url} alt=${`The image ${name}`} onError=${broken} />`;
  return html`<figure class="picture" ref=${element}>
    ${!url ? html`<span class="unshown"><${Icon} name="image" /></span>` : onRemove ? shown : html`<a href=${url} target="_blank" rel="noopener" title="Open the image">${shown}</a>`}
    <figcaption><span class="picture-name" title=${name}>${name}</span>${fault && html`<span class="hint">${fault}</span>`}</figcaption>
    ${onRemove && html`<${IconButton} icon="close" label=${`Remove ${name}`} onClick=${() => onRemove(image)} />`}
  </figure>`;
}
