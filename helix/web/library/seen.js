// Whether somebody can see the page. Streams are closed while nobody can, and opened again after.
//
//   await whenSeen();
//   const { signal, done } = untilHidden();      aborts when the page is hidden; done() lets go of it

const seen = () => document.visibilityState !== "hidden";

export function whenSeen() {
  if (seen()) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (!seen()) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
  });
}

export function untilHidden() {
  const controller = new AbortController();
  const look = () => seen() || controller.abort();
  document.addEventListener("visibilitychange", look);
  return {
    signal: controller.signal,
    done: () => {
      document.removeEventListener("visibilitychange", look);
      controller.abort();
    },
  };
}
