// Runs that this tab follows, with their files, as their events tell. A cut stream is taken up
// again; the server then sends every file's state once more. While the page is not seen nothing is
// followed. A browser has six connections to a server: at most three of them are for runs.
//
//   follow(12)                                   from now on runs.get().list has it
//   const { list } = useStore(runs);             [{ id, kind, status, stage, url, error, files: Map }]
//   touched();                                   the list of documents is not what it was
import { createStore, onOtherAsker } from "../store.js";
import { library } from "./library-api.js";
import { untilHidden, whenSeen } from "./seen.js";

export const ENDED = new Set(["done", "failed", "cancelled"]);
const FILE_ENDED = new Set(["added", "replaced", "unchanged", "failed", "cancelled"]);
const WAITS = [500, 1000, 2000, 5000, 10000]; // ms
const AT_ONCE = 3;

export const runs = createStore({ list: [], changes: 0 });
const following = new Set();
const seenEnding = new Set(); // ended here: not to be followed once more

onOtherAsker(() => {
  following.clear();
  seenEnding.clear();
  runs.set({ list: [] });
});

export async function follow(id) {
  if (following.has(id) || seenEnding.has(id)) return;
  following.add(id);
  put({ id, kind: "", status: "queued", stage: "", url: "", error: "", ignored: 0, files: new Map(), cut: "" });
  touched();
  for (let tries = 0; following.has(id); tries += 1) {
    const release = await slot();
    try {
      if (!following.has(id)) return;
      const { signal, done } = untilHidden();
      try {
        for await (const { event, data } of library.follow(id, signal)) {
          tries = 0;
          if (!following.has(id)) return;
          take(id, event, data);
        }
      } finally {
        done();
      }
      if (ENDED.has(find(id)?.status)) break;
    } catch (error) {
      if (error.name === "AbortError") continue;
      patch(id, { cut: error.message });
      if (error.status >= 400 && error.status < 500) break;
    } finally {
      release();
    }
    await new Promise((resolve) => setTimeout(resolve, WAITS[Math.min(tries, WAITS.length - 1)]));
  }
  if (following.delete(id)) {
    seenEnding.add(id);
    touched();
  }
}

// A turn to follow, which a call gives back.
let free = AT_ONCE;
const queue = [];

async function slot() {
  await whenSeen();
  if (free > 0) free -= 1;
  else await new Promise((resolve) => queue.push(resolve));
  return () => {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  };
}

export function forgetRun(id) {
  following.delete(id);
  seenEnding.add(id);
  runs.set({ list: runs.get().list.filter((run) => run.id !== id) });
}

// How far a file is, 0 to 1: each stage has its part, and within it what is done of it.
const BEGINS = { queued: 0, reading: 0.05, embedding: 0.4, writing: 0.9 };
const LASTS = { queued: 0.05, reading: 0.35, embedding: 0.45, writing: 0.05 };

export function progressOf(file) {
  if (FILE_ENDED.has(file.status)) return 1;
  const share = file.total ? Math.min(file.done / file.total, 1) : 0;
  return (BEGINS[file.status] ?? 0) + (LASTS[file.status] ?? 0) * share;
}

export const hasEnded = (file) => FILE_ENDED.has(file.status);

function take(id, event, data) {
  const run = find(id);
  if (!run) return;
  if (event === "run") {
    const { kind, status, stage, url, error, ignored } = data;
    patch(id, { kind, status, stage, url: url || "", error: error || "", ignored, cut: "" });
  } else if (event === "file") {
    const files = new Map(run.files);
    files.set(data.n, data);
    const ended = hasEnded(data) && !hasEnded(run.files.get(data.n) || {});
    patch(id, { files, cut: "" });
    if (ended) touched();
  }
}

const OFTEN = 1000; // ms from one look at the list to the next, however many files end between
let [looked, looking] = [0, 0];

export function touched() {
  looking ||= setTimeout(() => {
    [looked, looking] = [Date.now(), 0];
    runs.set({ changes: runs.get().changes + 1 });
  }, Math.max(0, looked + OFTEN - Date.now()));
}

const find = (id) => runs.get().list.find((run) => run.id === id);

function put(run) {
  runs.set({ list: [run, ...runs.get().list.filter((other) => other.id !== run.id)] });
}

function patch(id, change) {
  runs.set({ list: runs.get().list.map((run) => (run.id === id ? { ...run, ...change } : run)) });
}
