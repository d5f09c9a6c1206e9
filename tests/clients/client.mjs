// The TypeScript SDK's client against a gateway, over both transports.
// Arguments: URL of the gateway, its token, then the command that serves MCP on standard input and output.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, token, command, ...args] = process.argv.slice(2);
const READ_ONLY = ['calc', 'datetime', 'json_transform', 'list_files', 'read_file', 'regex', 'text_utils', 'web_fetch'];
const WRITING = ['edit', 'write_file'];
// Room for a busy machine; nothing waits this long when all is well.
const OPTIONS = { timeout: 300_000 };

let passed = 0;
let failed = 0;

async function check(what, run) {
    try {
        await run();
        passed += 1;
        console.log(`ok    typescript ${what}`);
    } catch (error) {
        failed += 1;
        console.log(`FAIL  typescript ${what}\n      ${String(error.message ?? error).replaceAll('\n', '\n      ')}`);
    }
}

function http(bearer) {
    const headers = { Authorization: `Bearer ${bearer}` };
    return new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } });
}

const text = (result) => result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');

async function allTools(client) {
    const tools = [];
    let cursor;
    do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor }, OPTIONS);
        tools.push(...page.tools);
        cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
}

/** A call that ends well. */
async function call(client, name, given) {
    const result = await client.callTool({ name, arguments: given }, undefined, OPTIONS);
    assert.ok(!result.isError, `\`${name}\` failed: ${text(result)}`);
    return result;
}

/** A call that the model is told about as an error of the tool. */
async function errorOf(client, name, given) {
    const result = await client.callTool({ name, arguments: given }, undefined, OPTIONS);
    assert.equal(result.isError, true, `\`${name}\` did not fail: ${JSON.stringify(result)}`);
    return result;
}

async function refusals(over, client) {
    await check(`${over}: a cursor that nobody gave out is an error`, () =>
        assert.rejects(client.listTools({ cursor: 'no such cursor' }, OPTIONS), { code: -32602 }));
    await check(`${over}: an unknown tool is an error that names the nearest`, () =>
        assert.rejects(client.callTool({ name: 'calk', arguments: {} }, undefined, OPTIONS), (error) => {
            assert.equal(error.code, -32602);
            assert.match(error.message, /`calk`.*`calc`/);
            assert.ok(error.data.nearest.includes('calc'), JSON.stringify(error.data));
            return true;
        }));
    await check(`${over}: wrong arguments are an error of the tool that says which`, async () => {
        const result = await errorOf(client, 'calc', { expresion: '1 + 1' });
        assert.match(text(result), /'expresion' was unexpected/);
        assert.match(text(result), /"expression" is a required property/);
        assert.equal(result._meta['caisson/outcome'], 'invalid-arguments');
    });
    await check(`${over}: a refused call is an error of the tool that names its rule`, async () => {
        const result = await errorOf(client, 'web_fetch', { url: 'http://169.254.169.254/' });
        assert.match(text(result), /`http\.address-metadata`.*169\.254\.169\.254.*what would allow it/);
        assert.equal(result._meta['caisson/rule'], 'http.address-metadata');
    });
}

async function works(over, client) {
    await check(`${over}: tools are listed once each, with a schema and hints`, async () => {
        const tools = await allTools(client);
        const names = tools.map((tool) => tool.name);
        assert.equal(new Set(names).size, names.length, `twice: ${names}`);
        const hints = new Map(tools.map((tool) => [tool.name, tool.annotations?.readOnlyHint]));
        for (const name of READ_ONLY) assert.equal(hints.get(name), true, `readOnlyHint of \`${name}\``);
        for (const name of WRITING) assert.equal(hints.get(name), false, `readOnlyHint of \`${name}\``);
        for (const tool of tools) assert.ok(tool.description && tool.inputSchema.type === 'object', tool.name);
    });
    await check(`${over}: datetime`, async () => {
        const result = await call(client, 'datetime', {});
        assert.ok(!Number.isNaN(Date.parse(result.structuredContent.time)), JSON.stringify(result));
        assert.match(text(result), /\d{4}-\d{2}-\d{2}T/);
    });
    await check(`${over}: structured content of calc`, async () => {
        const result = await call(client, 'calc', { expression: '2 + 3 * 4' });
        assert.deepEqual(result.structuredContent, { exact: true, value: '14' });
        assert.equal(text(result), '14');
    });
    const path = `typescript/${over}.txt`;
    await check(`${over}: write_file, read_file and list_files`, async () => {
        assert.match(text(await call(client, 'write_file', { path, content: 'Grüße, 世界\n' })), /typescript/);
        assert.match(text(await call(client, 'read_file', { path })), /Grüße, 世界/);
        assert.ok(text(await call(client, 'list_files', { path: 'typescript' })).includes(`${over}.txt`));
    });
}

async function wholeSession(over, transport, end) {
    const faults = [];
    const client = new Client({ name: 'caisson-tests', version: '1' });
    client.onerror = (error) => faults.push(error.message);
    let connected = false;
    await check(`${over}: connects`, async () => {
        await client.connect(transport, OPTIONS);
        connected = true;
        assert.equal(client.getServerVersion().name, 'caisson');
        assert.equal(client.getServerCapabilities().tools.listChanged, true);
    });
    if (!connected) return;
    await refusals(over, client);
    await works(over, client);
    await check(`${over}: ends without a fault of the transport`, async () => {
        await end(transport);
        await client.close();
        assert.deepEqual(faults, []);
    });
}

await check('http: a wrong token does not connect', async () => {
    const client = new Client({ name: 'caisson-tests', version: '1' });
    await assert.rejects(client.connect(http(`${token}x`), OPTIONS), { code: 401 });
});
const overHttp = http(token);
await wholeSession('http', overHttp, async (transport) => {
    assert.equal(transport.protocolVersion, '2025-11-25');
    assert.ok(transport.sessionId, 'no session');
    await transport.terminateSession();
});
await wholeSession('stdio', new StdioClientTransport({ command, args }), async () => {});

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
