// Makes calls of tools with the TypeScript SDK, and prints the results as JSON.
//
//	node client.mjs CALLS COMMAND ARGS...
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';

const [calls, command, ...args] = process.argv.slice(2);
const client = new Client({name: 'sdk', version: '1'});
await client.connect(new StdioClientTransport({command, args}));
const results = [];
for (const {name, arguments: values, progress} of JSON.parse(calls)) {
	let told = 0;
	const options = progress ? {onprogress: () => { told++; }} : {};
	const result = await client.callTool({name, arguments: values}, undefined, options);
	results.push({text: result.content.map((part) => part.text).join(''), progress: told});
}
await client.close();
console.log(JSON.stringify(results));
