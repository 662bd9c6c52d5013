import { useAbout } from "../shell/about.js";
import { useSpaces } from "../shell/spaces.js";

// The views of the page. One line each: `name` is what stands after #/, `label` what the
// navigation says (none: it is not in it), `aside` puts it in the menu, `load` brings its module, whose default export is a
// component that gets { route }; `as` names the view that it is drawn as, so that going from one to the
// other draws nothing anew. A view's styles come with it: `styles` names files of styles/. `study`: only where
// the server has study (HELIX_STUDY); `accounts`: only where people sign in; `known`: or where keys are asked for; `spaces`: there, or where there are several.
const PEOPLE = "../accounts/accounts.css";
export const VIEWS = [
  { name: "ask", label: "Ask", icon: "ask", load: () => import("./ask.js") },
  { name: "c", as: "ask", load: () => import("./ask.js") },
  { name: "library", label: "Library", icon: "document", load: () => import("./library.js"), styles: ["library.css"] },
  { name: "search", label: "Search", icon: "search", load: () => import("./search.js"), styles: ["search.css"] },
  { name: "study", label: "Study", icon: "label", study: true, load: () => import("./study.js"), styles: ["proof.css", "study.css"] },
  { name: "sources", label: "Sources", icon: "link", aside: true, load: () => import("./sources.js"), styles: ["proof.css", "sources.css"] },
  { name: "evals", label: "Evals", icon: "why", aside: true, load: () => import("./evals.js"), styles: ["proof.css"] },
  { name: "privacy", label: "Privacy", icon: "shield", aside: true, load: () => import("./privacy.js"), styles: ["proof.css"] },
  { name: "progress", label: "Progress", icon: "why", aside: true, study: true, load: () => import("./progress.js"), styles: ["proof.css", "progress.css"] },
  { name: "prompts", label: "Prompts", icon: "edit", aside: true, load: () => import("./prompts.js"), styles: ["study.css"] },
  { name: "spaces", label: "Spaces", icon: "cards", aside: true, spaces: true, load: () => import("../accounts/spaces.js"), styles: [PEOPLE] },
  { name: "people", label: "People", icon: "people", aside: true, accounts: true, load: () => import("../accounts/people.js"), styles: [PEOPLE] },
  { name: "usage", label: "Usage", icon: "clock", aside: true, known: true, load: () => import("./usage.js"), styles: ["study.css", "usage.css"] },
  { name: "source", load: () => import("./source.js") },
  { name: "shared", load: () => import("../accounts/sharing/shared.js"), styles: ["../accounts/sharing/sharing.css"] },
  { name: "answer", load: () => import("./answer.js") },
];

// The views that this server has.
export function useViews() {
  const { study, auth } = useAbout();
  const { several, list } = useSpaces();
  const people = auth === null || auth === "accounts";
  const without = { study: study === false, accounts: !people, known: auth === "off", spaces: !people && !several && list !== null };
  return VIEWS.filter((view) => !Object.keys(without).some((part) => view[part] && without[part]));
}
