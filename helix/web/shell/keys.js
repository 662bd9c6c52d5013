// Keys that work everywhere on the page, but not while something is typed or a dialog is open.
//
//   useKeys({ "?": f, "mod+k": g })      "mod" is Ctrl, on a Mac the command key; such a one works
//                                        while typing too
//   isMac                                for how keys are written
import { useLayoutEffect, useRef } from "../html.js";

export const isMac = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform ?? navigator.platform);

export function useKeys(actions) {
  const now = useRef(actions);
  now.current = actions;
  useLayoutEffect(() => { // at once: a key that follows what is seen finds its action
    const onKey = (event) => {
      const action = now.current[nameOf(event)];
      if (!action || event.defaultPrevented || event.isComposing || event.repeat) return;
      if (document.querySelector("dialog[open]")) return;
      if (!isMod(event) && isTyping(event.target)) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

const isMod = (event) => (isMac ? event.metaKey : event.ctrlKey);

function nameOf(event) {
  if (event.altKey) return "";
  if (isMod(event)) return `mod+${event.key.toLowerCase()}`;
  return event.ctrlKey || event.metaKey ? "" : event.key;
}

export function isTyping(element) {
  return element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])");
}
