// Verifies webhooks with the receiver of the Standard Webhooks authors.
// stdin: one JSON object a line {secret, headers, body}; stdout: how many verified.
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

let verified = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  new Webhook(secret).verify(body, headers);
  verified += 1;
}
console.log(verified);
