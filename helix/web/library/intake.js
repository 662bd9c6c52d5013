// Bring documents in, from any view: files, a text, the samples, pages of the web. What was asked
// for at once is one card, with what was taken in and what was refused, and why.
//
//   const { runs, known, refused } = await addFiles(files, { tags: ["travel"] });
//   await addText({ title, text, tags });        throws what the server says
//   await addSamples();                          likewise
//   await addWeb({ url, site: true, pages: 100, whole: false, files: false, tags });
//   stopSending(id);                             what has not come is not sent
//   const { list } = useStore(cards);            newest first: [{ id, sending, sent, unsent, known, refused, runs }]
//       sending, unsent: how many files; sent: 0 to 1
import { announce } from "../components.js";
import { createStore, onOtherAsker, recall, remember } from "../store.js";
import { follow, forgetRun } from "./follow.js";
import { library } from "./library-api.js";
import { changedHere } from "./live.js";

const FILES = 100; // of one request, as the server has it
const REQUEST_FILES = 4; // a request may be as large as so many files of the largest size
const MEGABYTE = 2 ** 20;
const NOTHING = { sending: 0, sent: 0, unsent: 0, known: 0, refused: [], runs: [] };

const KEPT = "cards"; // of this tab: what was refused is told nowhere else

export const cards = createStore({ list: kept() });
let last = Math.max(0, ...cards.get().list.map(({ id }) => id));
let limits = null; // of this server
const stops = new Map(); // of cards whose files are being sent

cards.subscribe(({ list }) => {
  const some = list.filter(({ refused }) => refused.length).map((card) => ({ ...card, sending: 0 }));
  remember(KEPT, some.length ? JSON.stringify(some) : "");
});
onOtherAsker(() => cards.set({ list: [] }));
cards.get().list.flatMap(({ runs }) => runs).forEach(follow);

export async function addFiles(files, { tags = [] } = {}) {
  const card = begin({ sending: files.length });
  const most = (await limit()) * MEGABYTE;
  const fitting = files.filter((file) => !most || file.size <= most);
  refuse(card, files.filter((file) => !fitting.includes(file)).map(({ name }) => (
    { name, reason: `larger than ${most / MEGABYTE} MB, the limit of this server` })));
  await sendAll(card, [...requests(fitting, most)], tags);
  const done = find(card);
  const taken = files.length - done.refused.length - done.unsent;
  announce(`${count(taken, "file", "files")} accepted${done.refused.length ? `, ${done.refused.length} refused` : ""}.`);
  return done;
}

export async function addText({ title, text, tags = [] }) {
  const name = `${title.replace(/[/\\]/g, " ").slice(0, 100).trim() || "Text"}.${isMarkdown(text) ? "md" : "txt"}`;
  const form = new FormData();
  form.append("file", new File([text], name));
  form.append("title", title);
  for (const tag of tags) form.append("tags", tag);
  const reply = await library.upload(form);
  if (reply.refused.length) throw new Error(reply.refused[0].reason);
  took(begin({}), reply);
}

export async function addSamples() {
  took(begin({}), await library.samples());
}

export async function addWeb({ url, site = false, pages, whole = false, files = false, tags = [] }) {
  const labels = tags.length ? { tags } : {};
  const { run_id: run } = site
    ? await library.crawl({ url, pages, files, ...(whole ? { prefix: "/" } : {}), ...labels })
    : await library.fetchUrl({ url, ...labels });
  start(begin({}), run);
}

// Runs that were asked for elsewhere on the page, such as a second reading, have a card too.
export function show(run) {
  start(begin({}), run);
}

export function putAway(id) {
  find(id)?.runs.forEach(forgetRun);
  cards.set({ list: cards.get().list.filter((card) => card.id !== id) });
}

// Requests of the files, each within the server's limits.
function* requests(files, most) {
  let some = [];
  let size = 0;
  for (const file of files) {
    if (some.length && (some.length === FILES || size + file.size > most * REQUEST_FILES * 0.98)) {
      yield some;
      [some, size] = [[], 0];
    }
    some.push(file);
    size += file.size;
  }
  if (some.length) yield some;
}

// A request after the other; `sent` is of the bytes of all.
async function sendAll(card, all, tags) {
  const controller = new AbortController();
  stops.set(card, controller);
  window.addEventListener("beforeunload", askFirst);
  const sizes = all.map((files) => files.reduce((sum, { size }) => sum + size, 1));
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  for (const [n, files] of all.entries()) {
    const onSent = (share) => patch(card, { sent: (before + share * sizes[n]) / whole });
    await send(card, files, tags, { signal: controller.signal, onSent });
    before += sizes[n];
  }
  stops.delete(card);
  if (!stops.size) window.removeEventListener("beforeunload", askFirst);
  patch(card, { sending: 0 });
}

const askFirst = (event) => event.preventDefault(); // files that are being sent go with the page

export const stopSending = (id) => stops.get(id)?.abort();

async function send(card, files, tags, sending) {
  if (sending.signal.aborted) return patch(card, { unsent: find(card).unsent + files.length });
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  for (const tag of tags) form.append("tags", tag);
  try {
    took(card, await library.upload(form, sending));
  } catch (error) {
    if (sending.signal.aborted) await send(card, files, tags, sending);
    else refuse(card, files.map(({ name }) => ({ name, reason: error.message })));
  }
}

function took(card, { run_id: run, documents, refused = [] }) {
  patch(card, { known: find(card).known + documents.filter((one) => one.duplicate).length });
  refuse(card, refused.map(({ name, reason }) => ({ name, reason: reason.replace(`${name}: `, "") })));
  if (run !== null) start(card, run);
}

function start(card, run) {
  patch(card, { runs: [...new Set([...find(card).runs, run])] });
  follow(run);
  changedHere();
}

function refuse(card, some) {
  if (some.length) patch(card, { refused: [...find(card).refused, ...some] });
}

function begin(state) {
  last += 1;
  cards.set({ list: [{ id: last, ...NOTHING, ...state }, ...cards.get().list] });
  return last;
}

const find = (id) => cards.get().list.find((card) => card.id === id) || { id, ...NOTHING };

function patch(id, change) {
  cards.set({ list: cards.get().list.map((card) => (card.id === id ? { ...card, ...change } : card)) });
}

// The cards with something refused, as a reload finds them.
function kept() {
  try {
    return JSON.parse(recall(KEPT)) ?? [];
  } catch {
    return [];
  }
}

async function limit() {
  try {
    limits ??= await library.counts();
    return limits.max_file_mb;
  } catch {
    return 0; // not known: the server says it itself
  }
}

const isMarkdown = (text) => /^(#{1,6} \S|\|.*\||```|[-*] \S)/m.test(text);

export const count = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
