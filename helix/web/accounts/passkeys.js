// Passkeys: what the browser signs, in WebAuthn's own JSON. The server knows nothing of the device.
//
//   supported()                            the browser has them, at this address
//   await signIn({ signal, quietly })      with any that fits; quietly: offered where the address is filled in
//   await add(name, password)              a new one for whoever signed in
//   told(error)                            the words for what was thrown; "": somebody changed their mind
import { request } from "./requests.js";

const api = globalThis.PublicKeyCredential;

export const supported = () => isSecureContext && typeof api?.parseRequestOptionsFromJSON === "function";

export const offersQuietly = async () => (await api.isConditionalMediationAvailable?.()) === true;

export async function signIn({ signal, quietly = false }) {
  const { options } = await request("POST", "/v1/session/passkey/challenge");
  signal.throwIfAborted();
  const credential = await navigator.credentials.get({
    publicKey: api.parseRequestOptionsFromJSON(options), signal, ...(quietly ? { mediation: "conditional" } : {}),
  });
  await request("POST", "/v1/session/passkey", { credential: credential.toJSON() });
}

export async function add(name, password) {
  const { options } = await request("POST", "/v1/account/passkeys/challenge", { password });
  const credential = await navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(options) });
  await request("POST", "/v1/account/passkeys", { name, credential: credential.toJSON() });
}

export function told({ name, message }) {
  if (name === "AbortError") return "";
  if (name === "InvalidStateError") return "This device has a passkey of the account already.";
  return name === "NotAllowedError" ? "No passkey was used. Try again." : message;
}
