// Conversations by the day on which they were last used: today, yesterday, and further back by month.
//
//   groupsOf(list, new Date())   -> [{ name: "Today", list: […] }, …] in the order of the list
import { chosen } from "../dates.js";

const DAY = 86_400_000;

export function groupsOf(list, now) {
  const groups = [];
  for (const one of list) {
    const name = nameOf(new Date(one.updated_at), now);
    if (groups.at(-1)?.name !== name) groups.push({ name, list: [] });
    groups.at(-1).list.push(one);
  }
  return groups;
}

function nameOf(day, now) {
  const ago = Math.round((midnight(now) - midnight(day)) / DAY); // days have 23 to 25 hours
  if (ago <= 0) return "Today";
  if (ago === 1) return "Yesterday";
  if (ago < 7) return "The last 7 days";
  if (ago < 30) return "The last 30 days";
  return day.toLocaleDateString(chosen() || "en", { month: "long", year: "numeric" });
}

const midnight = (day) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
