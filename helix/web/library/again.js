// Read a document once more: an upload from the bytes that are kept, a web page from its address.
//
//   await readAgain(document or file of a run)     the run that does it; null: why not is told
import { toast } from "../components.js";
import { show } from "./intake.js";
import { library } from "./library-api.js";
import { isWeb } from "../text.js";

// What can be read again at all: files of the server's own disk are the command line's.
export const canReadAgain = (document) => document.file || isWeb(document.source_uri);

export async function readAgain({ id, document_id: documentId = id, source_uri: source, file }) {
  try {
    const { run_id: run } = isWeb(source) && !file
      ? await library.fetchUrl({ url: source })
      : await library.reread(documentId);
    show(run);
    return run;
  } catch (error) {
    toast(error.message);
    return null;
  }
}
