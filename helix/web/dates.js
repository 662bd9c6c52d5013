// Dates as their reader has them: in the browser's language, or in the one chosen under "Your account".
//
//   dateOf("2026-01-31T12:00Z")        "31 Jan 2026"; a second value: options of toLocaleDateString
//   momentOf("…")                      with the time
//   LANGUAGES; chosen(); choose("de")
const KEPT = "helix.dates"; // not by store.js, which not every page has

export const LANGUAGES = ["en-GB", "en-US", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "sv", "zh"];

export function chosen() {
  try {
    const language = localStorage.getItem(KEPT);
    return LANGUAGES.includes(language) ? language : "";
  } catch {
    return ""; // the browser refuses storage to the page
  }
}

export function choose(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // as the browser has it
  }
}

export const dateOf = (text, options = { dateStyle: "medium" }) => new Date(text).toLocaleDateString(chosen() || undefined, options);
export const momentOf = (text) => new Date(text).toLocaleString(chosen() || undefined, { dateStyle: "medium", timeStyle: "short" });
