// Sources in plain words: how one stands, when it was synced, what a sync found.
//
//   stateOf(source)     { kind: "busy|waits|failed|paused|ready", word: "In step", text: "…" }
//   timesOf(source)     ["synced 5 minutes ago", "next in 1 hour"]
//   countsOf(counts)    "3 new, 1 changed"
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const spoken = new Intl.RelativeTimeFormat("en", { numeric: "always" });

export const counted = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

export function relative(time) {
  const seconds = (new Date(time) - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? [];
  if (unit) return spoken.format(Math.round(seconds / length), unit);
  return seconds < 0 ? "just now" : "in a moment";
}

export function stateOf(one) {
  if (one.run_id) return { kind: "busy", word: "Syncing", text: "" };
  if (one.last_error) return { kind: "failed", word: "Not in step", text: sentence(one.last_error) };
  if (one.waiting) return { kind: "waits", word: "Waits for you", text: `${counted(one.waiting, "document")} ${one.waiting === 1 ? "is" : "are"} gone at the source. Nothing is removed until you say so.` };
  if (one.state === "paused") return { kind: "paused", word: "Paused", text: "" };
  return one.last_run_at ? { kind: "ready", word: "In step", text: "" } : { kind: "paused", word: "New", text: "" };
}

export function timesOf(one) {
  const next = one.state === "active" && one.next_run_at;
  return [one.last_run_at && `synced ${relative(one.last_run_at)}`, next ? `next ${relative(next)}` : !one.run_id && "synced when asked to"].filter(Boolean);
}

const COUNTS = { new: "new", changed: "changed", moved: "moved", removed: "removed", waiting: "waiting for a yes", unread: "not read", unchanged: "unchanged", left: "left out" };

export function countsOf(counts) {
  const told = Object.entries(COUNTS).filter(([name]) => counts[name]).map(([name, word]) => `${counts[name].toLocaleString("en")} ${word}`);
  return told.join(", ") || "nothing";
}

function sentence(text) {
  const line = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
