// The images of questions: chosen, sent with their question, and shown beside it.
//
//   isImage(file)                        by what the browser takes it for, or its name
//   choose(conversation, files)          for its next question, or says why not; unchoose(conversation, image)
//   await sent(conversation, scope)      { conversation, images: [{ id, name }] }, or null where that failed; one
//                                        is made where none is. The draft is there until taken(conversation)
//   await imageOf(conversation, id)      a Blob
import { call, send } from "../api.js";
import { about } from "../shell/about.js";
import { refuse, sendTo } from "./attached.js";
import { draftImagesOf, setDraft, setDraftImages } from "./drafts.js";

const MOST = 5; // of one question
const LARGEST_MB = 10; // as the server has it
const BLIND = "The model of this server cannot look at images. Its operator can set one that can (HELIX_LLM).";
const SAID = {
  413: `The image is too large: ${LARGEST_MB} MB is the most. Make it smaller and try again.`,
  415: "This file is not a supported image. Use PNG, JPEG, WebP, HEIC or HEIF.",
  501: BLIND,
};

const isHeic = ({ name }) => /\.hei[cf]$/i.test(name); // which browsers do not tell the type of
const isKnown = (file) => /^image\/(png|jpeg|webp|hei[cf])$/.test(file.type) || isHeic(file);

export const isImage = (file) => file.type.startsWith("image/") || isHeic(file);

export function choose(conversation, files) {
  const before = draftImagesOf(conversation);
  const fault = faultOf(files, before.length);
  refuse(conversation, fault);
  if (fault) return;
  const chosen = files.map((file) => ({ file, name: file.name || "image", url: URL.createObjectURL(file) }));
  setDraftImages(conversation, [...before, ...chosen]);
}

function faultOf(files, before) {
  if (about.get().images === false) return BLIND;
  if (!files.every(isKnown)) return SAID[415];
  if (files.some(({ size }) => size > LARGEST_MB * 2 ** 20)) return SAID[413];
  return before + files.length > MOST ? `A question can have at most ${MOST} images.` : "";
}

export function unchoose(conversation, image) {
  URL.revokeObjectURL(image.url);
  setDraftImages(conversation, draftImagesOf(conversation).filter((one) => one !== image));
  refuse(conversation, "");
}

export function sent(given, scope) {
  const chosen = draftImagesOf(given);
  return sendTo(scope, chosen.length, async (conversation) => {
    const all = await Promise.all(chosen.map((one) => put(conversation, one)));
    return { conversation, images: [...new Map(all.map((one) => [one.id, one])).values()] }; // the same twice is one
  }, (error) => SAID[error.status] ?? error.message);
}

async function put(conversation_id, { file, name }) {
  const form = new FormData();
  form.append("image", file, name);
  return call("POST /v1/conversations/{conversation_id}/images", { path: { conversation_id }, form });
}

export function taken(conversation) {
  draftImagesOf(conversation).forEach(({ url }) => URL.revokeObjectURL(url));
  setDraftImages(conversation, []);
  setDraft(conversation, "");
}

export async function imageOf(conversation_id, image_id) {
  const path = { conversation_id, image_id };
  return (await send("GET /v1/conversations/{conversation_id}/images/{image_id}", { path }, "image/*")).blob();
}
