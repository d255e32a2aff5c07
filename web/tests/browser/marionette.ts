// Firefox, driven by its own protocol (Marionette): frames of "length:[0, id, command, parameters]" on
// a local socket. Debian's Firefox has it, and nothing else need be installed.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const startWithin = 60_000;  // ms

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

async function connected(port: number): Promise<Socket> {
  const end = Date.now() + startWithin;
  for (;;) {
    const socket = await new Promise<Socket | null>((done) => {
      const one = connect(port, "127.0.0.1");
      one.once("connect", () => done(one));
      one.once("error", () => done(null));
    });
    if (socket !== null) return socket;
    if (Date.now() > end) throw new Error("Firefox did not open its port");
    await new Promise((done) => setTimeout(done, 200));
  }
}

export class Firefox {
  private readonly waiting = new Map<number, (answer: [error: { message: string } | null, value: unknown]) => void>();
  private bytes = Buffer.alloc(0);
  private id = 0;

  private constructor(private readonly process: ChildProcess, private readonly socket: Socket, private readonly profile: string) {
    socket.on("data", (part) => {
      this.bytes = Buffer.concat([this.bytes, part]);
      for (let at = this.bytes.indexOf(58); at >= 0; at = this.bytes.indexOf(58)) {
        const length = Number(this.bytes.subarray(0, at).toString());
        if (this.bytes.length < at + 1 + length) return;
        const message = JSON.parse(this.bytes.subarray(at + 1, at + 1 + length).toString()) as unknown;
        this.bytes = this.bytes.subarray(at + 1 + length);
        if (Array.isArray(message)) this.waiting.get(message[1] as number)?.([message[2], message[3]]);
      }
    });
  }

  static async start(executable: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "npuscope-firefox-"));
    const port = await freePort();
    writeFileSync(join(profile, "user.js"), [
      `user_pref("marionette.port", ${port});`, `user_pref("network.proxy.type", 5);`, `user_pref("app.update.enabled", false);`,
      `user_pref("datareporting.policy.dataSubmissionEnabled", false);`, `user_pref("browser.shell.checkDefaultBrowser", false);`].join("\n"));
    const child = spawn(executable, ["--headless", "--marionette", "--no-remote", "--profile", profile],
                        { stdio: "ignore", env: { ...process.env, HOME: profile, MOZ_HEADLESS_WIDTH: "1280", MOZ_HEADLESS_HEIGHT: "900" } });
    const firefox = new Firefox(child, await connected(port), profile);
    await firefox.send("WebDriver:NewSession", { capabilities: { alwaysMatch: {} } });
    return firefox;
  }

  async send(command: string, parameters: object): Promise<unknown> {
    const id = ++this.id;
    const text = JSON.stringify([0, id, command, parameters]);
    const answer = new Promise<[error: { message: string } | null, value: unknown]>((done) => this.waiting.set(id, done));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [error, value] = await answer;
    if (error !== null) throw new Error(`${command}: ${error.message}`);
    return value;
  }

  // What a function body gives in the page.
  async run<T>(script: string): Promise<T> {
    const { value } = await this.send("WebDriver:ExecuteScript", { script, args: [] }) as { value: T };
    return value;
  }

  async picture(): Promise<Buffer> {
    const { value } = await this.send("WebDriver:TakeScreenshot", { full: false }) as { value: string };
    return Buffer.from(value, "base64");
  }

  async end(): Promise<void> {
    const ended = new Promise((done) => this.process.once("exit", done));
    await this.send("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
    this.socket.destroy();
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(timer);
    rmSync(this.profile, { recursive: true, force: true });
  }
}
