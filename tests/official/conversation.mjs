// A short app of the official TypeScript client: prompt, own tool, permission, streaming, resume.
// Usage: node conversation.mjs stdio|tcp RUNTIME ENDPOINT FOLDER. Prints what the app saw, as JSON.

import { CopilotClient, RuntimeConnection, defineTool } from "@github/copilot-sdk";

const [transport, path, baseUrl, folder] = process.argv.slice(2);

const seen = { asked: [], looked: [], deltas: "", idles: 0 };

const lookup = defineTool("lookup", {
    description: "Look a word up",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    handler: ({ word }) => {
        seen.looked.push(word);
        return `${word}: a word`;
    },
});

const config = (decision) => ({
    model: "test-model",
    provider: { type: "openai", baseUrl },
    workingDirectory: folder,
    streaming: true,
    tools: [lookup],
    onPermissionRequest: (request) => {
        seen.asked.push(request.kind);
        return { kind: decision };
    },
});

async function withClient(use) {
    const connect = transport === "tcp" ? RuntimeConnection.forTcp : RuntimeConnection.forStdio;
    const client = new CopilotClient({ connection: connect({ path }), baseDirectory: folder });
    await client.start();
    try {
        return await use(client);
    } finally {
        seen.errors = [...(seen.errors ?? []), ...(await client.stop()).map(String)];
    }
}

const id = await withClient(async (client) => {
    const session = await client.createSession(config("approve-once"));
    session.on("assistant.message_delta", (event) => (seen.deltas += event.data.deltaContent));
    session.on("session.idle", () => (seen.idles += 1));
    seen.reply = (await session.sendAndWait({ prompt: "What is a tree?" })).data.content;
    return session.sessionId;
});

await withClient(async (client) => {
    seen.listed = (await client.listSessions()).map((entry) => entry.sessionId === id);
    const session = await client.resumeSession(id, config("reject"));
    await session.sendAndWait({ prompt: "Touch another." });
    seen.resumed = (await session.sendAndWait({ prompt: "Well?" })).data.content;
    const events = await session.getEvents();
    seen.said = events.filter((event) => event.type === "user.message").map((event) => event.data.content);
    seen.results = events
        .filter((event) => event.type === "tool.execution_complete")
        .map((event) => event.data.success);
});

console.log(JSON.stringify(seen));
