// Light, dark, or as the system has it; theme.js sets what was chosen before the first paint.
//
//   const [theme, choose] = useTheme();      theme: "", "light" or "dark"; "" is the system's
import { createStore, recall, remember, useStore } from "../store.js";

export const THEMES = { "": "System", light: "Light", dark: "Dark" };

const store = createStore({ theme: recall("theme", "localStorage") || "" });

function choose(theme) {
  remember("theme", theme, "localStorage");
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  store.set({ theme });
}

export const useTheme = () => [useStore(store).theme, choose];
