// The newest ClickHouse behind its HTTP interface, as far as npuscope speaks it: npm's chdb is the engine without a
// server. Prints its port when it answers; ends with its standard input.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { Session } = createRequire(import.meta.url)("chdb");

// Parameters of the interface itself; all others are settings.
const OF_INTERFACE = [
  "database",
  "query",
  "decompress",
  "default_format",
  "wait_end_of_query",
  "readonly",
  "http_native_compression_disable_checksumming_on_decompress",
];
const ZSTD = 0x90;

const folder = mkdtempSync(join(tmpdir(), "npuscope-clickhouse-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

// A cluster of one shard, which is this engine: one that listens at the port of the shard takes it for itself.
const config = join(folder, "config.xml");
writeFileSync(
  config,
  `<clickhouse><tcp_port>9000</tcp_port><remote_servers><one><shard>
    <replica><host>127.0.0.1</host><port>9000</port></replica>
  </shard></one></remote_servers></clickhouse>`,
);
const open = () => new Session(join(folder, "data"), { connectionArgs: [`--config-file=${config}`] });
const writer = open();
const reader = open();
reader.query("SET readonly = 2");

// Blocks of ClickHouse's own compression: 16 bytes of checksum, method, size with these 9 bytes, size of the content.
function contentOf(body) {
  const frames = [];
  for (let at = 0; at < body.length; ) {
    if (body[at + 16] !== ZSTD) throw new Error(`a block of method ${body[at + 16]}`);
    const end = at + 16 + body.readUInt32LE(at + 17);
    frames.push(body.subarray(at + 25, end));
    at = end;
  }
  return Buffer.concat(frames);
}

function insert(session, query, body) {
  const [, head] = /^(INSERT INTO .*) FORMAT Native$/s.exec(query);
  const file = join(folder, "rows.native.zst");
  writeFileSync(file, contentOf(body));
  return session.query(`${head} SELECT * FROM file('${file}', 'Native', 'auto', 'zstd')`);
}

function answer(parameters, body) {
  const session = parameters.get("readonly") === "2" ? reader : writer;
  session.query(`USE \`${parameters.get("database")}\``);
  for (const [name, value] of parameters) {
    if (!OF_INTERFACE.includes(name)) session.query(`SET ${name} = ${/^\d+$/.test(value) ? value : `'${value}'`}`);
  }
  const query = parameters.get("query");
  if (query) return insert(session, query, body);
  return session.query(body.toString(), parameters.get("default_format") ?? "TabSeparated");
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    response.end(answer(new URL(request.url, "http://localhost").searchParams, Buffer.concat(chunks)));
  } catch (error) {
    response.writeHead(500).end(String(error.message).trim().replace(/^Query failed: /, ""));
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
