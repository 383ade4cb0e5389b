// Plays the asciicast on standard input with asciinema-player's own engine, up to its end, and
// prints what came of it: {output, sizes: ["COLSxROWS" ...], duration, markers: [[at, label] ...]}.
import { readFileSync, readdirSync } from "node:fs";
const dist = new URL("./node_modules/asciinema-player/dist/", import.meta.url);
const core = readdirSync(dist).find((name) => /^core-.*\.js$/.test(name));
const { C: Core } = await import(new URL(core, dist));
const quiet = { debug() {}, info() {}, warn() {}, error: console.error, log() {} };
const text = readFileSync(0, "utf8");
const player = new Core({ data: text }, { logger: quiet, speed: 1 });
const made = { output: "", sizes: [], failed: null };
const sized = ({ cols, rows }) => made.sizes.push(`${cols}x${rows}`);
player.addEventListener("metadata", (e) => Object.assign(made, { duration: e.duration, markers: e.markers }));
player.addEventListener("output", (texts) => (made.output += texts.join("")));
player.addEventListener("resize", sized);
player.addEventListener("reset", (e) => sized(e.size));
player.addEventListener("error", (e) => (made.failed = String(e)));
player.terminalReady();
await player.init();
await player.seek("100%");
console.log(JSON.stringify(made));
