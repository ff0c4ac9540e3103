// The client's own codecs know no task shapes; ext-tasks therefore wants a way
// past them. This one shares the client's transport under ids of its own.
export function rawDispatch(transport) {
  const waiting = new Map();
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = message.method === undefined && waiting.get(message.id);
    if (!settle) return toClient?.(message, extra);
    waiting.delete(message.id);
    settle(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  let last = 0;
  return (request) =>
    new Promise((resolve, reject) => {
      const id = `raw:${++last}`;
      waiting.set(id, resolve);
      transport.send({ jsonrpc: "2.0", id, ...request }).catch(reject);
    });
}
