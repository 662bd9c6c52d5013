// Where the page is: the part of the address after #. "#/ask?docs=7,8&tags=travel" is
// { name: "ask", rest: [], query: { docs: "7,8", tags: "travel" } }; "#/source/7" has rest ["7"].
// Views are registered in views/index.js. Nothing of the hash reaches the server.
//
//   useRoute()                                   the route, in a component
//   address("ask", [], { docs: "7" })            -> "#/ask?docs=7"; empty values are left out
//   go(address(…)), go(address(…), true)         true: in place of the present one, without a step back
import { useEffect, useState } from "./html.js";

export const HOME = "ask";

export function read(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, ...rest] = path.split("/").map(decode).filter(Boolean);
  return { name: name || HOME, rest, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function address(name, rest = [], query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const search = new URLSearchParams(kept).toString().replaceAll("%2C", ",");
  return `#/${[name, ...rest].map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

export function go(hash, replace = false) {
  if (replace) {
    history.replaceState(null, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = hash;
  }
}

export function useRoute() {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const update = () => setRoute(read());
    window.addEventListener("hashchange", update);
    return () => window.removeEventListener("hashchange", update);
  }, []);
  return route;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % of an address typed by hand
  }
}
