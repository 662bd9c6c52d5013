// Gives a file to the user: saved under a name, or opened in a new tab.
//
//   handOut(blob, { download: "name.md" })      or { target: "_blank" }
//   fileName(title, "md")                       a title as a name that every disk takes
export function handOut(blob, as) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), rel: "noopener", ...as });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const fileName = (title, ending) => `${title.replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 80) || "helix"}.${ending}`;
