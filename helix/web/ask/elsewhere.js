// An answer as people use it elsewhere.
//
//   <${Elsewhere} turn=${turn} open=${b} onClose=${f} />      the dialog that offers them
import { api } from "../api.js";
import { Button, Dialog, copyText, toast } from "../components.js";
import { thread } from "../conversations/thread.js";
import { fileName, handOut } from "../file.js";
import { html } from "../html.js";
import { address } from "../router.js";
import { shortened } from "../text.js";
import { isOfTool, quotesOf } from "./cited.js";

export function Elsewhere({ turn, open, onClose }) {
  const copy = async (make, said, put = copyText) => {
    onClose();
    try {
      toast((await put(await make())) ? `${said} copied` : "It could not be copied");
    } catch (error) {
      toast(error.message);
    }
  };
  const ways = [
    ["Copy as Markdown", "copy", () => copy(() => asMarkdown(turn), "Markdown")],
    ["Copy as rich text with links", "copy", () => copy(() => turn, "Rich text", copyRichText)],
    ...(turn.citations.some(isOfDocument) ? [
      ["Copy sources in APA style", "document", () => copy(() => bibliography(turn, "apa"), "Bibliography")],
      ["Copy sources as BibTeX", "code", () => copy(() => bibliography(turn, "bibtex"), "BibTeX")],
    ] : []),
    ...(turn.id && thread.get().list.some(({ local }) => local === turn.local) ? [
      ["Save as a Word document", "down-file", () => { onClose(); saveWord(turn).catch((error) => toast(error.message)); }],
    ] : []),
    ...(turn.answerId && turn.state === "done" ? [
      ["Save a signed copy, for anybody to check", "down-file", () => { onClose(); saveProof(turn).catch((error) => toast(error.message)); }],
    ] : []),
    ["Print, or save as PDF", "down-file", () => { onClose(); requestAnimationFrame(() => print()); }],
  ];
  return html`<${Dialog} title="Export this answer" open=${open} onClose=${onClose}>
    <ul class="ways-out">${ways.map(([name, icon, run]) => html`<li key=${name}><${Button} icon=${icon} onClick=${run}>${name}</></li>`)}</ul></${Dialog}>`;
}

async function saveWord({ id, question }) {
  handOut(await (await api.export(thread.get().id, "docx", id)).blob(), { download: fileName(question, "docx") });
}

async function saveProof({ answerId, question }) {
  handOut(await (await api.proof(answerId)).blob(), { download: fileName(question, "json") });
}

const isOfDocument = ({ document_id: id }) => id !== null;
const linkOf = ({ documentId, start, end }) => new URL(address("source", [documentId], start === null ? {} : { start, end }), location.href).href;

// Marker -> where it leads: the first passage of its source that the answer rests on.
function linksOf(turn) {
  const found = new Map();
  for (const citation of turn.citations) {
    const [first] = quotesOf(turn, citation);
    if (!isOfTool(first)) found.set(citation.n, linkOf(first));
  }
  return found;
}

function asMarkdown(turn) {
  const links = linksOf(turn);
  const text = turn.text.replace(/\[(\d+)\]/g, (marker, n) => (links.has(Number(n)) ? `[\\[${n}\\]](${links.get(Number(n))})` : marker));
  const sources = turn.citations.flatMap((citation) => quotesOf(turn, citation).map((passage) => {
    const name = [citation.title, passage.place].filter(Boolean).join(", ");
    const quote = passage.quote ? `: “${shortened(passage.quote, 300)}”` : "";
    return `- \\[${citation.n}\\] ${isOfTool(passage) ? name : `[${escaped(name)}](${linkOf(passage)})`}${quote}`;
  }));
  return [`## ${turn.question}`, "", text, ...(sources.length ? ["", "### Sources", "", ...sources] : []), ""].join("\n");
}

const escaped = (text) => text.replace(/[[\]\\]/g, "\\$&");

// What stands on the page, with its chips as links and nothing that only the page can do.
function asRichText(turn) {
  const links = linksOf(turn);
  const body = document.querySelector(`#turn-${turn.local} .prose`)?.cloneNode(true) ?? element("p", turn.text);
  for (const chip of body.querySelectorAll("button.chip")) chip.replaceWith(linked(`[${chip.dataset.n}]`, links.get(Number(chip.dataset.n))));
  for (const button of body.querySelectorAll("button")) button.replaceWith(...button.childNodes);
  for (const each of body.querySelectorAll("*")) for (const { name } of [...each.attributes]) if (name !== "href") each.removeAttribute(name);
  const sources = element("ol");
  for (const citation of turn.citations) {
    const item = element("li");
    item.value = citation.n;
    item.append(linked(citation.title, links.get(citation.n)));
    sources.append(item);
  }
  const whole = element("div");
  whole.append(element("h2", turn.question), ...body.childNodes, ...(turn.citations.length ? [element("h3", "Sources"), sources] : []));
  return whole.getHTML();
}

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function linked(text, href) {
  const made = element(href ? "a" : "span", text);
  if (href) made.href = href;
  return made;
}

async function copyRichText(turn) {
  const plain = asMarkdown(turn);
  try {
    const as = (text, type) => new Blob([text], { type });
    await navigator.clipboard.write([new ClipboardItem({ "text/html": as(asRichText(turn), "text/html"), "text/plain": as(plain, "text/plain") })]);
    return true;
  } catch {
    return copyText(plain); // a page that is not served over https
  }
}

async function bibliography(turn, style) {
  const ids = [...new Set(turn.citations.filter(isOfDocument).map((one) => one.document_id))];
  const documents = await Promise.all(ids.map((id) => api.document(id, { text: false })));
  const entries = documents.map((one) => ({
    id: one.id, title: one.title, author: one.facts?.author ?? "", year: (one.facts?.date ?? "").match(/\d{4}/)?.[0] ?? "",
    url: /^https?:/.test(one.source_uri) ? one.source_uri : "", file: one.file_name || one.source_uri,
  }));
  return entries.map(style === "apa" ? apa : bibtex).join(style === "apa" ? "\n" : "\n\n");
}

// Without an author the title comes first, and without a year "n.d.", as APA 7 has it.
function apa({ title, author, year, url, file }) {
  const date = `(${year || "n.d."}).`;
  const ends = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);
  return [...(author ? [ends(author), date, ends(title)] : [ends(title), date]), url || ends(`[${file}]`)].join(" ");
}

const SIGNS = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
const forTex = (text) => text.replace(/[\\{}%&#_$~^]/g, (sign) => SIGNS[sign] ?? `\\${sign}`);

function bibtex({ id, title, author, year, url, file }) {
  const fields = { title: `{${forTex(title)}}`, author: forTex(author), year, url, note: url ? "" : forTex(file) };
  const lines = Object.entries(fields).filter(([, value]) => value && value !== "{}").map(([name, value]) => `  ${name} = {${value}}`);
  return `@misc{helix${id},\n${lines.join(",\n")}\n}`;
}
