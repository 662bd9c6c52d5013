// Passages by their ids, as the server has them now; one that is gone is left out.
//
//   const chunks = useChunks([39, 40]);     a Map: id -> chunk, empty until they came
import { api } from "../api.js";
import { useEffect, useState } from "../html.js";

export function useChunks(ids) {
  const [chunks, setChunks] = useState(new Map());
  useEffect(() => {
    const controller = new AbortController();
    Promise.all(ids.map((id) => api.chunk(id, controller.signal).catch(() => null))).then((found) => {
      if (!controller.signal.aborted) setChunks(new Map(found.filter(Boolean).map((chunk) => [chunk.id, chunk])));
    });
    return () => controller.abort();
  }, [ids.join()]);
  return chunks;
}
