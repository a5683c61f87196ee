// An authorization server that we did not write: oidc-provider (OpenID-certified), with a person who always agrees.
//
// Takes one argument, JSON: {resources: {identifier: "jwt" | "opaque"}, robots: {client_id: scopes}}. Robots use the
// client credentials grant with the secret "<client_id>-secret". Prints {"issuer": …} once it listens.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import Provider, { errors } from "oidc-provider";

const SCOPES = "planner:read planner:write planner:admin planner:sensitive planner:approve";
const { resources, robots } = JSON.parse(process.argv[2]);

function key(type, options, kid) {
  const jwk = generateKeyPairSync(type, options).privateKey.export({ format: "jwk" });
  return { ...jwk, kid, use: "sig" };
}

function robot([client_id, scope]) {
  return {
    client_id,
    client_secret: `${client_id}-secret`,
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
    scope,
  };
}

function resourceServer(_ctx, resource) {
  const format = resources[resource];
  if (!format) throw new errors.InvalidTarget();
  return { scope: SCOPES, audience: resource, accessTokenFormat: format, accessTokenTTL: 600 };
}

const configuration = {
  clients: [
    ...Object.entries(robots).map(robot),
    { ...robot(["planner"]), grant_types: [] }, // the resource server itself, for introspection
  ],
  jwks: { keys: [key("rsa", { modulusLength: 2048 }, "rsa-1"), key("ec", { namedCurve: "P-256" }, "ec-1")] },
  scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  cookies: { keys: ["not a secret: this server lives for one test"] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      getResourceServerInfo: resourceServer,
      useGrantedResource: () => true,
    },
  },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
};

// Logs in whom `login_hint` names and grants whatever is asked.
async function agree(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: params.login_hint ?? "ada" } });
    return;
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration);
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url.startsWith("/interaction/")) return answer(request, response);
    agree(provider, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  console.log(JSON.stringify({ issuer }));
});
