// The response to a request of a view, with its error.
//
//   const { data, error, reload, put } = useData((signal) => call(…), [id])      asks again when a value changes
//   <${Failure} error=${error} />
import { Notice } from "./components.js";
import { html, useEffect, useState } from "./html.js";

export const Failure = ({ error }) => html`<${Notice} kind="error" title=${error.status === 404 ? "This no longer exists." : "The server returned an error."}><p>${error.message}</p></>`;

export function useData(load, values) {
  const [state, setState] = useState({ data: null, error: null, asked: 0 });
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (data) => setState((now) => ({ ...now, data, error: null })),
      (error) => error.name !== "AbortError" && setState((now) => ({ ...now, error })),
    );
    return () => controller.abort();
  }, [...values, state.asked]);
  return { ...state, reload: () => setState((now) => ({ ...now, asked: now.asked + 1 })), put: (data) => setState((now) => ({ ...now, data })) };
}
