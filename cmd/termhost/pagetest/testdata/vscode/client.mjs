// Drives VS Code's own client of the Agent Host Protocol, as it stands in the bundle of its
// workbench: the client that connects, subscribes and reconnects, and the terminal that hands text
// and commands on. What is ours is the WebSocket below it (VS Code's is in the desktop's bundle
// only), and the services of the workbench that it asks.

// exported returns the bundle as a module that also exports what VS Code keeps to itself. The
// names are short ones of a build; each is found by a text that stands nowhere else.
async function exported(url) {
	let text = await (await fetch(url)).text();
	const once = (part) => {
		const at = text.indexOf(part);
		if (at < 0 || at !== text.lastIndexOf(part)) {
			throw new Error(`not once in the bundle: ${part}`);
		}
		return at;
	};
	const classAround = (part) => {
		const before = text.slice(0, once(part));
		return /([\w$]+)$/.exec(before.slice(0, before.lastIndexOf("=class ")))[1];
	};
	const names = {
		ProtocolClient: classAround(",lastSeenServerSeq:"),
		Pty: classAround('"AgentHostPty"'),
		URI: /([\w$]+)\.from\($/.exec(text.slice(0, once('{scheme:"agenthost-terminal"')))[1],
	};
	// The bundle ends with a function that draws the workbench where the page configures one.
	const draw = 'throw new Error("Missing web configuration element")';
	once(draw);
	text = text.replace(draw, "return");
	const list = Object.entries(names).map(([name, short]) => `${short} as ${name}`);
	text += `\nexport {${list.join(", ")}};\n`;
	return import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

globalThis._VSCODE_FILE_ROOT = `${location.origin}/`; // where the bundle expects more of its files
const { ProtocolClient, Pty, URI } = await exported("workbench.js");

const nothing = { dispose() {} };
const never = () => nothing; // an event

/** A WebSocket as VS Code's client wants its transports. */
class Transport {
	constructor(url, token) {
		this.url = url;
		this.protocols = ["termhost.ahp", `termhost.token.${token}`];
	}
	connect() {
		return new Promise((resolve, reject) => {
			this.socket = new WebSocket(this.url, this.protocols);
			this.socket.onopen = () => resolve();
			this.socket.onmessage = (m) => this.heard(JSON.parse(m.data));
			this.socket.onclose = () => {
				reject(new Error("the connection has ended"));
				this.ended();
			};
		});
	}
	onMessage = (f) => ((this.heard = f), nothing);
	onClose = (f) => ((this.ended = f), nothing);
	send(message) {
		if (this.socket.readyState === WebSocket.OPEN) {
			this.socket.send(JSON.stringify(message));
		}
	}
	dispose() {
		this.heard = this.ended = () => {};
		this.socket?.close();
	}
}

const log = [];
const write = (level) => (...parts) => log.push(`${level}: ${parts.map(String).join(" ")}`);
const logService = Object.fromEntries(
	["trace", "debug", "info", "warn", "error"].map((level) => [level, write(level)]));

const told = {};
const ptys = {};
let client;

globalThis.code = {
	/** What VS Code logs. */
	log,
	/** What its terminals tell it, by their URIs: [kind, ...texts] of all events in order. */
	told,
	/** The types of all actions. */
	seen: [],
	/** Connects with VS Code's client, which reconnects by itself. */
	async connect(url, token) {
		client = new ProtocolClient("termhost", () => new Transport(url, token),
			{ reconnectPolicy: { autoRestore: true, initialDelayMs: 50, maxDelayMs: 200, maxAttempts: 1000 } },
			logService,
			{ connectionClosed() {} }, // of files, which hosts may ask for
			{ onDidChangeConfiguration: never, getValue() {}, inspect: () => ({}) },
			{ telemetryLevel: 0 },
			{ isWorkspaceTrustEnabled: () => false },
			{ getTrustedUris: () => [], onDidChangeTrust: never, onDidChangeTrustedFolders: never });
		client.onDidAction((a) => this.seen.push(a.action.type));
		await client.connect();
	},
	state: () => client.connectionState,
	/** Opens a terminal as VS Code does, {attachOnly: true} one that is there. */
	async open(uri, options) {
		const pty = new Pty(1, client, URI.parse(uri), options, logService);
		const list = (told[uri] = []);
		pty.onProcessData((d) => list.push(["data", d.data ?? d]));
		pty.onCommandExecuted((c) => list.push(["executed", c.commandId, c.commandLine]));
		pty.onCommandFinished((c) => list.push(["finished", c.commandId, String(c.exitCode)]));
		pty.onProcessExit((status) => list.push(["exit", String(status)]));
		ptys[uri] = pty;
		pty.resize(100, 30); // as the terminal that is drawn has it
		const failed = await pty.start();
		if (failed) {
			throw new Error(failed.message);
		}
	},
	input: (uri, text) => ptys[uri].input(text),
	/** The text that VS Code writes to the emulator. */
	text: (uri) => told[uri].filter(([kind]) => kind === "data").map(([, text]) => text).join(""),
};
