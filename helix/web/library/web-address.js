// Whether a document came from an address of the web, by its source_uri.
export const isWeb = (address) => /^https?:\/\//i.test(address ?? "");
