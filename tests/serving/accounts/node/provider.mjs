// A provider of OpenID Connect on loopback: npm's oidc-provider with its own forms for signing in.
// Its one argument is JSON: port, redirect and logout addresses, keys (private JWKs).
import Provider from "oidc-provider";

const { port, redirect, logout, keys } = JSON.parse(process.argv[2]);
const people = {
  ada: { email: "ada@example.com", email_verified: true, name: "Ada", groups: ["research", "staff"] },
  new: { email: "new@example.com", email_verified: true, name: "Newt", groups: ["staff"] },
  liar: { email: "ada@example.com", email_verified: false, name: "Liar", groups: [] },
};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: "helix", client_secret: "a secret of the client's", redirect_uris: [redirect],
    post_logout_redirect_uris: [logout], response_types: ["code"], grant_types: ["authorization_code"],
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  scopes: ["openid", "email", "profile", "groups"],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  jwks: { keys },
  cookies: { keys: ["a key of the cookies"] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
});
provider.listen(port, "127.0.0.1", () => console.log("listening"));
