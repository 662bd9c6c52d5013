// The views of the page. One line each: `name` is what stands after #/, `label` what the
// navigation says (none: it is not in it), `aside` puts it in the menu, `load` brings its module, whose default export is a
// component that gets { route }. A view's styles come with it: `styles` names files of styles/.
export const VIEWS = [
  { name: "ask", label: "Ask", icon: "ask", load: () => import("./ask.js") },
  { name: "library", label: "Library", icon: "document", load: () => import("./library.js"), styles: ["library.css"] },
  { name: "evals", label: "Evals", icon: "why", aside: true, load: () => import("./evals.js"), styles: ["proof.css"] },
  { name: "privacy", label: "Privacy", icon: "shield", aside: true, load: () => import("./privacy.js"), styles: ["proof.css"] },
  { name: "source", load: () => import("./source.js") },
  { name: "answer", load: () => import("./answer.js") },
];
