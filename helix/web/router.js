// Where the page is: the part of the address after #. "#/ask?docs=7,8&tags=travel" is
// { name: "ask", rest: [], query: { docs: "7,8", tags: "travel" } }; "#/source/7" has rest ["7"].
// Nothing of it reaches the server.
//
//   useRoute()                                   the route, in a component
//   address("ask", [], { docs: "7" })            -> "#/ask?docs=7"; empty values are left out
//   go(address(…)), go(address(…), true)         true: in place of the present one, without a step back
//   go(location.hash, false, { panel })          a step of the history with a state of its own
//   stateOf()                                    the state of the present step
//   await backFrom()                             leave a step that has a state; the address stays
import { useEffect, useState } from "./html.js";

const HOME = "ask";

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

export function go(hash, replace = false, state = null) {
  if (replace) {
    history.replaceState(state ?? history.state, "", hash);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else if (state) {
    history.pushState({ ...state, from: location.hash }, "", hash);
  } else {
    location.hash = hash;
  }
  here = placeNow();
}

export const stateOf = () => history.state ?? {};

export function backFrom() {
  if (!history.state) return Promise.resolve();
  return new Promise((resolve) => {
    window.addEventListener("popstate", () => resolve(), { once: true });
    history.back();
  });
}

const placeNow = () => ({ hash: location.hash, state: history.state });
let here = placeNow();

// What is asked may have been changed while a panel was open. The step below takes over the address
// that it has come to, or closing the panel would undo the change.
window.addEventListener("popstate", () => {
  const left = here;
  if (left.state && !history.state && left.state.from === location.hash && read(left.hash).name === read().name) {
    history.replaceState(null, "", left.hash);
  }
  here = placeNow();
});

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
