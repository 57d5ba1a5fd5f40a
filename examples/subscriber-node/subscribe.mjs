// A subscriber to Jobledger's stream, from the .proto files and the NATS client alone. It prints a line for each event, checks by
// the headers that none is missing, and goes on after what it took when the connection breaks.
//
//   npm install && node subscribe.mjs [CLUSTER [COUNT]]
//
// NATS_URL says where the server is, PROTO where the .proto files are; it ends after COUNT events. docs/stream.md says what the
// headers mean.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import protobuf from "protobufjs";

const [cluster = "default", count = "0"] = process.argv.slice(2);
const protos = process.env.PROTO ?? fileURLToPath(new URL("../../proto", import.meta.url));

// token writes a name as one token of a subject.
function token(name) {
  if (name === "") return "-";
  if (name === "-") return "=2D";
  const escape = (c) => "=" + c.toString(16).toUpperCase().padStart(2, "0");
  return [...Buffer.from(name)]
    .map((c) => (/[A-Za-z0-9-]/.test(String.fromCharCode(c)) ? String.fromCharCode(c) : c === 0x2e ? "_" : escape(c)))
    .join("");
}

// clean escapes what a terminal could act on: names and messages are data, written by others.
function clean(text) {
  const hidden = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return JSON.stringify(text).slice(1, -1).replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

const root = new protobuf.Root();
root.resolvePath = (_, file) => path.resolve(protos, file);
await root.load("jobledger/v1/stream.proto", { keepCase: true });
const PublishedRecord = root.lookupType("jobledger.v1.PublishedRecord");

// decode gives a record in the same shape whichever form the publisher chose: 64-bit numbers and bytes are texts.
function decode(m) {
  if (m.headers.get("ce-datacontenttype") === "application/json") return m.json();
  return PublishedRecord.toObject(PublishedRecord.decode(m.data), { longs: String, enums: String, bytes: String });
}

const { NATS_URL: servers = "127.0.0.1:4222", NATS_USER: user, NATS_PASSWORD: pass } = process.env;
const connection = await connect({ servers, user, pass, maxReconnectAttempts: -1 });
const everything = `jobledger.v1.${token(cluster)}.>`;
const stream = await (await jetstreamManager(connection)).streams.find(everything);
// An ordered consumer takes messages in the order of the stream and, when it is interrupted, goes on after the last one.
const consumer = await jetstream(connection).consumers.get(stream, { filter_subjects: [everything], deliver_policy: "all" });

let newest = null; // the life of the log and the sequence of the newest event
let taken = 0;
for await (const m of await consumer.consume()) {
  const [log, epoch, number] = m.headers.get("ce-id").split(".");
  const life = `${log}.${epoch}`;
  const sequence = BigInt(number);
  if (newest?.life === life) {
    if (sequence <= newest.sequence) continue; // it came before
    if (sequence > newest.sequence + 1n) {
      const floor = BigInt(m.headers.get("ce-floor"));
      console.log(`${newest.sequence + 1n} to ${sequence - 1n} ${sequence <= floor ? "were never published" : "are missing"}`);
    }
  } else if (newest) {
    console.log(clean(`another life of the log, ${life}, after ${newest.life}`));
  }
  newest = { life, sequence };

  const record = decode(m);
  const said = (record.evidence?.containers ?? []).map((c) => c.message).filter(Boolean);
  const line = [sequence, m.headers.get("ce-type").split(".").at(-1), m.headers.get("ce-subject") || "controller",
    m.headers.get("ce-reasons"), record.evidence?.message, ...said];
  console.log(line.filter(Boolean).map((part) => clean(String(part))).join(" "));
  if (++taken === Number(count)) break;
}
await connection.drain();
