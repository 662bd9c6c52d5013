// Dates as their reader has them: in the browser's language, or in the one chosen under "Your account".
//
//   dateOf("2026-01-31T12:00Z")        "31 Jan 2026"; a second value: options of toLocaleDateString
//   momentOf("…")                      with the time
//   LANGUAGES; chosen(); choose("de")
import { recall, remember } from "./store.js";

export const LANGUAGES = ["en-GB", "en-US", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "sv", "zh"];

export const chosen = () => (LANGUAGES.includes(recall("dates", "localStorage")) ? recall("dates", "localStorage") : "");
export const choose = (language) => remember("dates", language, "localStorage");

export const dateOf = (text, options) => new Date(text).toLocaleDateString(chosen() || undefined, options);
export const momentOf = (text) => new Date(text).toLocaleString(chosen() || undefined);
