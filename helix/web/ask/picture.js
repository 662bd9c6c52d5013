// An image to ask about: chosen, pasted or dropped on the question box, and shown until it is sent.
//
//   isImage(file)               by what the browser takes it for, or its name
//   pictureOf(files)            { file, name, url } of the first of them, or null; url is a blob: one
//   <${PicturePicker} onPick=${(files) => …} />
//   <${Picture} picture=${picture} onRemove=${f} />      without onRemove: as it stands with a question
import { FileButton, Icon, IconButton } from "../components.js";
import { html, useState } from "../html.js";

const KINDS = "image/png,image/jpeg,image/webp,image/gif,image/heic,image/heif";
const LARGEST_MB = 10; // as POST /ask-image has it
const BYTES = LARGEST_MB * 2 ** 20;

const SAID = {
  413: `The image is too large: ${LARGEST_MB} MB is the most. Make it smaller and ask again.`,
  415: "That file is no image that can be looked at. PNG, JPEG, WebP, GIF, HEIC and HEIF can.",
  501: "The model that answers here cannot look at images. Whoever runs this server can set one that does (HELIX_LLM).",
};

export const isImage = ({ type, name }) => type.startsWith("image/") || /\.hei[cf]$/i.test(name);

export function pictureOf(files) {
  const file = [...files][0];
  return file ? { file, name: file.name || "image", url: URL.createObjectURL(file) } : null;
}

// The form that is sent; throws what the server would say of a file that is not worth sending.
export function formOf({ file }, question) {
  if (file.size > BYTES) throw new Error(SAID[413]);
  const form = new FormData();
  form.append("image", file, "image");
  form.append("q", question);
  return form;
}

export const saidOf = (error) => SAID[error.status] || error.message;

export function PicturePicker({ onPick }) {
  return html`<${FileButton} icon="image" label="Ask about an image" field="Image to ask about" accept=${KINDS} onPick=${onPick} />`;
}

export function Picture({ picture, onRemove }) {
  const [broken, setBroken] = useState(false);
  const { name, url } = picture;
  const shown = url && !broken;
  return html`<figure class=${shown ? "picture" : "picture unshown"}>
    ${shown ? html`<img src=${url} alt=${`The image ${name}`} onError=${() => setBroken(true)} />` : html`<${Icon} name="image" />`}
    <figcaption><span class="picture-name">${name}</span>${onRemove && html`<span class="hint">The question is about this image. No document is searched.</span>`}
      ${!url && html`<span class="hint">Images are not kept when a tab is loaded again.</span>`}</figcaption>
    ${onRemove && html`<${IconButton} icon="close" label="Take the image away" onClick=${onRemove} />`}
  </figure>`;
}
