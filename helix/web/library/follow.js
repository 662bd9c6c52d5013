// Runs that this tab follows, with their files, as their events tell. A cut stream is taken up
// again; the server then sends every file's state once more.
//
//   follow(12)                                   from now on runs.get().list has it
//   const { list } = useStore(runs);             [{ id, status, stage, url, error, files: Map }]
import { createStore, session } from "../store.js";
import { library } from "./library-api.js";

export const ENDED = new Set(["done", "failed", "cancelled"]);
const FILE_ENDED = new Set(["added", "replaced", "unchanged", "failed", "cancelled"]);
const WAITS = [500, 1000, 2000, 5000, 10000]; // ms

export const runs = createStore({ list: [], changes: 0 });
const following = new Set();

// Another tenant or another key: somebody else's runs.
let asking = who(session.get());
session.subscribe((state) => {
  if (who(state) === asking) return;
  asking = who(state);
  following.clear();
  runs.set({ list: [] });
});

function who({ tenant, key }) {
  return `${tenant} ${key}`;
}

export async function follow(id) {
  if (following.has(id)) return;
  following.add(id);
  put({ id, status: "queued", stage: "", url: "", error: "", files: new Map(), cut: "" });
  changed();
  for (let tries = 0; following.has(id); tries += 1) {
    try {
      for await (const { event, data } of library.follow(id)) {
        tries = 0;
        if (!following.has(id)) return;
        take(id, event, data);
      }
      if (ENDED.has(find(id)?.status)) break;
    } catch (error) {
      patch(id, { cut: error.message });
      if (error.status >= 400 && error.status < 500) break;
    }
    await new Promise((resolve) => setTimeout(resolve, WAITS[Math.min(tries, WAITS.length - 1)]));
  }
  if (following.delete(id)) changed();
}

export function forgetRun(id) {
  following.delete(id);
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
    patch(id, { status: data.status, stage: data.stage, url: data.url || "", error: data.error || "", cut: "" });
  } else if (event === "file") {
    const files = new Map(run.files);
    files.set(data.n, data);
    const ended = hasEnded(data) && !hasEnded(run.files.get(data.n) || {});
    patch(id, { files, cut: "" });
    if (ended) changed();
  }
}

// The list of documents is not what it was.
const changed = () => runs.set({ changes: runs.get().changes + 1 });

const find = (id) => runs.get().list.find((run) => run.id === id);

function put(run) {
  runs.set({ list: [run, ...runs.get().list.filter((other) => other.id !== run.id)] });
}

function patch(id, change) {
  runs.set({ list: runs.get().list.map((run) => (run.id === id ? { ...run, ...change } : run)) });
}
