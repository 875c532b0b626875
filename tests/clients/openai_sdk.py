"""Drives the SDK of OpenAI against the server whose address is the argument."""

import json
import sys

import openai

QUESTION = "How tall is the Eiffel Tower?"
client = openai.OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="sk-any")
chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]
tools = [{"type": "web_search"}]


def error_of(call):
    try:
        call()
    except openai.APIError as error:
        return [type(error).__name__, error.message, error.code]
    return None


plain = client.responses.create(model="search_web", input=QUESTION, tools=tools)
events = [
    e.type
    for e in client.responses.create(model="search_web", input=QUESTION, tools=tools, stream=True)
]
with client.responses.stream(
    model="search_web", input=[{"role": "user", "content": QUESTION}]
) as stream:
    for _ in stream:
        pass
    final = stream.get_final_response()
completion = client.chat.completions.create(model="search_web", messages=chat)
with client.chat.completions.stream(
    model="search_web", messages=chat, stream_options={"include_usage": True}
) as stream:
    for _ in stream:
        pass
    streamed = stream.get_final_completion()
seen = {
    "plain": plain.model_dump(mode="json", warnings=False),
    "events": events,
    "final": final.model_dump(mode="json", warnings=False),
    "completion": completion.model_dump(mode="json", warnings=False),
    "streamed": streamed.model_dump(mode="json", warnings=False),
    "models": [model.id for model in client.models.list()],
    "bad": error_of(lambda: client.responses.create(model="search_web", input="x")),
    "bad_stream": error_of(
        lambda: list(client.responses.create(model="search_web", input="x", stream=True))
    ),
}
print(json.dumps(seen))
