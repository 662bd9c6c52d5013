// What the palette offers. Each part of the page adds its own commands while it is shown.
//
//   useCommands([{ id: "theme", name: "Change the theme", run: () => …, keys: "t", hint: "…" }])
//       `keys` is the shortcut as the sheet writes it, `hint` says more to find it by; both may lack
//   useStore(commands).list                      all of them now; of two with one id, the later one
import { useEffect, useRef } from "../html.js";
import { createStore } from "../store.js";

const lists = new Map(); // who added -> its commands
export const commands = createStore({ list: [] });

export function useCommands(list) {
  const now = useRef(list);
  now.current = list;
  useEffect(() => {
    const owner = {};
    // what is run is what the component has by then, not what it had when it added the command
    const run = (id) => () => now.current.find((one) => one.id === id)?.run();
    lists.set(owner, list.map((command) => ({ ...command, run: run(command.id) })));
    tell();
    return () => {
      lists.delete(owner);
      tell();
    };
  }, [list.map(({ id, name }) => `${id} ${name}`).join("\n")]);
}

function tell() {
  const all = [...lists.values()].flat();
  commands.set({ list: [...new Map(all.map((command) => [command.id, command])).values()] });
}
