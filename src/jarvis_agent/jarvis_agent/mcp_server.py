"""The calls as tools of the Model Context Protocol, pictures as images, manual and documentation as resources."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import cv2
import mcp_types as types
import numpy as np
from jarvis_core.errors import BadInputError
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from jarvis_agent.api.layer import Call
from jarvis_agent.served import Bridge

#: Rows of an array that are written out; of a longer one, evenly spread ones.
MAX_ROWS = 1000
#: Of pictures from calls; the manual's resources are the files themselves.
_QUALITY = 95
INSTRUCTIONS = """\
You control a robot arm that assembles LEGO-like bricks as a visual manual shows. Read the resource jarvis://api first;
the manual's pages are resources jarvis://manual/N and come by the tool manual_page, too. A failed action is an answer
with ok = false and a reason. Call finish when you are done: the episode is then scored."""
API, TASK, PAGE = "jarvis://api", "jarvis://task", "jarvis://manual/"


def make_server(bridge: Bridge) -> Server[Any]:
    """A server of the official SDK whose tools are the bridge's calls."""

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(call) for call in bridge.calls.values()])

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await asyncio.wrap_future(bridge.ask(params.name, params.arguments or {}))
        except BadInputError as error:
            text = types.TextContent(text=error.line())
            return types.CallToolResult(content=[text], is_error=True)
        return types.CallToolResult(content=content_of(answer))

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=_resources(bridge))

    async def read_resource(_: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[_resource(bridge, str(params.uri))])

    return Server(
        "jarvis",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def content_of(answer: dict[str, Any]) -> list[types.ContentBlock]:
    """An answer as JSON text, followed by its pictures in the order in which the text names them."""
    images: list[types.ContentBlock] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype == np.uint8 and value.ndim == 3:
                images.append(types.ImageContent(data=jpeg_base64(value), mime_type="image/jpeg"))
                return f"image {len(images)} below"
            rows = value[:: -(-len(value) // MAX_ROWS)] if len(value) > MAX_ROWS else value
            return {"rows": len(value), "shown": len(rows), "values": np.round(rows, 4).tolist()}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return value

    text = json.dumps(plain(answer))
    return [types.TextContent(text=text), *images]


def jpeg_base64(image: np.ndarray[Any, Any]) -> str:
    """A (height, width, 3) RGB picture in base64: PNG of a camera's noise takes ten times the time and the bytes."""
    bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    done, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    assert done
    return base64.b64encode(jpeg.tobytes()).decode()


def _tool(call: Call) -> types.Tool:
    return types.Tool(name=call.name, description=call.doc, input_schema=call.schema)


def _resources(bridge: Bridge) -> list[types.Resource]:
    pages = [
        types.Resource(
            uri=f"{PAGE}{page.step}",
            name=f"manual page {page.step}",
            mime_type="image/png",
            size=len(page.png),
        )
        for page in bridge.brief.manual.pages
    ]
    return [
        types.Resource(uri=API, name="what the tools do", mime_type="text/markdown"),
        types.Resource(uri=TASK, name="the task in words", mime_type="application/json"),
        *pages,
    ]


def _resource(bridge: Bridge, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
    if uri == API:
        return types.TextResourceContents(uri=uri, mime_type="text/markdown", text=bridge.documentation)
    if uri == TASK:
        brief = bridge.brief
        told = {
            "task": brief.task_id,
            "bricks": brief.n_required,
            "steps": len(brief.manual.pages) - 1,
            "axes": brief.manual.axes,
            "budget_s": brief.budget_s,
        }
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(told))
    for page in bridge.brief.manual.pages:
        if uri == f"{PAGE}{page.step}":
            blob = base64.b64encode(page.png).decode()
            return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=blob)
    raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri}")
