"""The Python SDK's client against a gateway: both transports, each in the stateless revision and with a handshake.

Arguments: URL of the gateway, its token, then the command that serves MCP on standard input and output.
"""

import asyncio
import datetime
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

READ_ONLY = {"calc", "datetime", "json_transform", "list_files", "read_file", "regex", "text_utils", "web_fetch"}
WRITING = {"edit", "write_file"}
INVALID_PARAMS = -32602
# Seconds. Room for a busy machine; nothing waits this long when all is well.
TIMEOUT = 300

passed = 0
failed = 0


class Unmet(Exception):
    """What a check wanted and did not find."""


def want(holds: object, found: object) -> None:
    if not holds:
        raise Unmet(f"got: {found}")


def causes(error: BaseException) -> list[BaseException]:
    """What a group of exceptions holds, groups within it included."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in causes(inner)]
    return [error]


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def check(what: str, run: Callable[[], Awaitable[None]]) -> None:
    global passed, failed
    try:
        await run()
    except Exception as error:
        failed += 1
        print(f"FAIL  python {what}")
        for cause in causes(error):
            print(f"      {type(cause).__name__}: {cause}")
    else:
        passed += 1
        print(f"ok    python {what}")
    sys.stdout.flush()


async def all_tools(client: Client) -> list[Any]:
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def call(client: Client, name: str, given: dict[str, Any]) -> Any:
    """A call that ends well."""
    result = await client.call_tool(name, given)
    want(not result.is_error, result)
    return result


async def error_of(client: Client, name: str, given: dict[str, Any]) -> Any:
    """A call that the model is told about as an error of the tool."""
    result = await client.call_tool(name, given)
    want(result.is_error, result)
    return result


async def refused(run: Awaitable[Any]) -> MCPError:
    """The error of the protocol that answers a request."""
    try:
        result = await run
    except MCPError as error:
        want(error.code == INVALID_PARAMS, error.error)
        return error
    raise Unmet(f"got: {result}")


async def refusals(over: str, client: Client) -> None:
    async def cursor() -> None:
        await refused(client.list_tools(cursor="no such cursor"))

    async def unknown() -> None:
        error = await refused(client.call_tool("calk", {}))
        want(re.search("`calk`.*`calc`", error.message), error.message)
        want("calc" in error.data["nearest"], error.data)

    async def arguments() -> None:
        result = await error_of(client, "calc", {"expresion": "1 + 1"})
        want("'expresion' was unexpected" in text(result), text(result))
        want('"expression" is a required property' in text(result), text(result))
        want(result.meta["caisson/outcome"] == "invalid-arguments", result.meta)

    async def denied() -> None:
        result = await error_of(client, "web_fetch", {"url": "http://169.254.169.254/"})
        said = text(result)
        want(re.search(r"`http\.address-metadata`.*169\.254\.169\.254.*what would allow it", said), said)
        want(result.meta["caisson/rule"] == "http.address-metadata", result.meta)

    await check(f"{over}: a cursor that nobody gave out is an error", cursor)
    await check(f"{over}: an unknown tool is an error that names the nearest", unknown)
    await check(f"{over}: wrong arguments are an error of the tool that says which", arguments)
    await check(f"{over}: a refused call is an error of the tool that names its rule", denied)


async def works(over: str, client: Client) -> None:
    async def listed() -> None:
        tools = await all_tools(client)
        hints = {tool.name: tool.annotations and tool.annotations.read_only_hint for tool in tools}
        want(len(hints) == len(tools), [tool.name for tool in tools])
        want(all(hints.get(name) is True for name in READ_ONLY), hints)
        want(all(hints.get(name) is False for name in WRITING), hints)
        want(all(tool.description and tool.input_schema["type"] == "object" for tool in tools), tools)

    async def time() -> None:
        result = await call(client, "datetime", {})
        # Whole seconds: older readers take three or six digits after the point, and no others.
        datetime.datetime.fromisoformat(result.structured_content["time"][:19])
        want(result.structured_content["time"] in text(result), result)

    async def structured() -> None:
        result = await call(client, "calc", {"expression": "2 + 3 * 4"})
        want(result.structured_content == {"exact": True, "value": "14"}, result.structured_content)
        want(text(result) == "14", text(result))

    async def files() -> None:
        name = over.replace(" ", "-") + ".txt"
        path = f"python/{name}"
        said = text(await call(client, "write_file", {"path": path, "content": "Grüße, 世界\n"}))
        want(path in said, said)
        said = text(await call(client, "read_file", {"path": path}))
        want("Grüße, 世界" in said, said)
        said = text(await call(client, "list_files", {"path": "python"}))
        want(name in said, said)

    await check(f"{over}: tools are listed once each, with a schema and hints", listed)
    await check(f"{over}: datetime", time)
    await check(f"{over}: structured content of calc", structured)
    await check(f"{over}: write_file, read_file and list_files", files)


async def whole_session(over: str, transport: Any, mode: str, version: str) -> None:
    async def session() -> None:
        async with Client(transport, mode=mode, read_timeout_seconds=TIMEOUT) as client:
            want(client.protocol_version == version, client.protocol_version)
            want(client.server_info is not None and client.server_info.name == "caisson", client.server_info)
            want(client.server_capabilities.tools.list_changed, client.server_capabilities)
            await refusals(over, client)
            await works(over, client)

    await check(f"{over}: connects with {version}, and ends", session)


async def main(url: str, token: str, command: str, *args: str) -> int:
    statuses: list[int] = []

    async def note(response: Any) -> None:
        statuses.append(response.status_code)

    def http(bearer: str) -> Any:
        client = create_mcp_http_client(headers={"Authorization": f"Bearer {bearer}"})
        client.event_hooks = {"response": [note]}
        return streamable_http_client(f"{url}/mcp", http_client=client)

    async def stranger() -> None:
        try:
            async with Client(http(f"{token}x"), read_timeout_seconds=TIMEOUT) as client:
                raise Unmet(f"connected with {client.protocol_version}")
        except* MCPError:
            # The client's error does not tell the status.
            want(statuses and set(statuses) == {401}, statuses)

    await check("http: a wrong token does not connect", stranger)
    modes = [("stateless", "auto", "2026-07-28"), ("handshake", "legacy", "2025-11-25")]
    for name, mode, version in modes:
        await whole_session(f"http {name}", http(token), mode, version)
        stdio = stdio_client(StdioServerParameters(command=command, args=list(args)))
        await whole_session(f"stdio {name}", stdio, mode, version)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
