// Sets the chosen theme before the first paint; a plain script, so that nothing flashes.
// localStorage "helix.theme": "light", "dark", or nothing for the system's.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("helix.theme");
  } catch {
    // storage is closed to us: the system's theme it is
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
