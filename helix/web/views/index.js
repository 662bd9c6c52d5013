import { useAbout } from "../shell/about.js";
import { useSpaces } from "../shell/spaces.js";

// The views of the page. `name` stands after #/, `label` in the navigation, with `aside` in the menu. The module of
// that name here, or `module`, exports a component that gets { route }; `as` names the view that it is drawn as, so
// that going between them draws nothing anew; `styles` are files of styles/. `study`: only where the server
// has study (HELIX_STUDY); `accounts`: only where people sign in; `known`: or where keys are asked for; `spaces`:
// there, or where there are several.
const PEOPLE = "../accounts/accounts.css";
export const VIEWS = [
  { name: "ask", label: "Ask", icon: "ask" },
  { name: "c", as: "ask" },
  { name: "library", label: "Library", icon: "document", styles: ["library.css"] },
  { name: "search", label: "Search", icon: "search", styles: ["search.css"] },
  { name: "study", label: "Study", icon: "label", study: true, styles: ["proof.css", "study.css"] },
  { name: "sources", label: "Sources", icon: "link", aside: true, styles: ["proof.css", "sources.css"] },
  { name: "evals", label: "Evals", icon: "why", aside: true, styles: ["proof.css"] },
  { name: "privacy", label: "Privacy", icon: "shield", aside: true, styles: ["proof.css"] },
  { name: "progress", label: "Progress", icon: "why", aside: true, study: true, styles: ["proof.css", "progress.css"] },
  { name: "prompts", label: "Prompts", icon: "edit", aside: true, styles: ["study.css"] },
  { name: "spaces", label: "Spaces", icon: "cards", aside: true, spaces: true, module: "accounts/spaces.js", styles: [PEOPLE] },
  { name: "people", label: "People", icon: "people", aside: true, accounts: true, module: "accounts/people.js", styles: [PEOPLE] },
  { name: "usage", label: "Usage", icon: "clock", aside: true, known: true, styles: ["study.css", "usage.css"] },
  { name: "source" },
  { name: "shared", module: "accounts/sharing/shared.js", styles: ["../accounts/sharing/sharing.css"] },
  { name: "answer" },
];

// The views that this server has.
export function useViews() {
  const { study, auth } = useAbout();
  const { several, list } = useSpaces();
  const people = auth === null || auth === "accounts";
  const without = { study: study === false, accounts: !people, known: auth === "off", spaces: !people && !several && list !== null };
  return VIEWS.filter((view) => !Object.keys(without).some((part) => view[part] && without[part]));
}
