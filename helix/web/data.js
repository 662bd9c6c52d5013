// The response to a request of a view, with its error.
//
//   const { data, error, reload, put } = useData((signal) => call(…), [id])      asks again when a value changes
//   <${Failure} error=${error} />      error: { message, status, retry }; a button calls `retry`, but where nothing is there any more
import { Button, Notice } from "./components.js";
import { html, useEffect, useState } from "./html.js";

export const Failure = ({ error }) => html`<${Notice} kind="error" title=${error.status === 404 ? "This no longer exists." : "This could not be loaded."}><p>${error.message}</p>
  ${error.status !== 404 && html`<${Button} icon="retry" onClick=${error.retry}>Try again</>`}</>`;

export function useData(load, values) {
  const [state, setState] = useState({ data: null, error: null, asked: 0 });
  const reload = () => setState((now) => ({ ...now, asked: now.asked + 1 }));
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (data) => setState((now) => ({ ...now, data, error: null })),
      (error) => error.name !== "AbortError" && setState((now) => ({ ...now, error: Object.assign(error, { retry: reload }) })),
    );
    return () => controller.abort();
  }, [...values, state.asked]);
  return { ...state, reload, put: (data) => setState((now) => ({ ...now, data })) };
}
