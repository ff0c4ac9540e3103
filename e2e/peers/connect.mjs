// What the drivers that speak through a proxy have in common: they are told what
// to do by one JSON object, and print one of what came of it.
//
// { mode, command: [...] or url, calls: [{ tool, args, open, cancel }], answer }
//
// Every call is followed to its end, one after the other. When it is a task, the
// file open is made, for which its tool may wait; one with cancel is cancelled.
// Whatever is asked is answered with answer.
import { writeFileSync } from "node:fs";

export const job = JSON.parse(process.argv[2]);
export const info = { name: "e2e-typescript", version: "1.0.0" };

export function answering(client, schema) {
  const questions = [];
  client.setRequestHandler(schema, async (request) => {
    questions.push(request.params.message);
    return job.answer ?? { action: "decline" };
  });
  return questions;
}

export async function driven(calls, call) {
  const met = [];
  for (const one of calls) met.push(await call(one));
  return met;
}

export function begun({ open }) {
  if (open) writeFileSync(open, "");
}

export function failure(error) {
  return { code: error.code, message: error.message };
}
