package mcptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responses is the wire of /v1/responses (https://platform.openai.com/docs/api-reference/responses-streaming).
var responses = wire{parse: parseResponses, answer: answerResponses}

func parseResponses(body []byte) (*request, error) {
	type tool struct {
		Type, Name string
		Tools      []struct{ Name string }
	}
	var in struct {
		Tools []tool
		Input []struct {
			Type    string
			Output  json.RawMessage
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{stream: true}
	for _, t := range in.Tools {
		if t.Type != "namespace" {
			r.tools = append(r.tools, t.Name)
		}
		for _, inside := range t.Tools {
			r.tools = append(r.tools, t.Name+namespaceEnd+inside.Name)
		}
	}
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			r.results = append(r.results, texts(item.Output))
		}
	}
	return r, nil
}

// namespaceEnd is between a namespace and a tool in our names of tools.
const namespaceEnd = "\x00"

func answerResponses(w http.ResponseWriter, r *request, s step) {
	id := fmt.Sprint("resp_", len(r.results))
	item := args{"type": "message", "role": "assistant", "id": "msg_" + id,
		"content": []any{args{"type": "output_text", "text": s.says}}}
	if s.tool != "" {
		item = args{"type": "function_call", "call_id": "call_" + id, "name": s.tool, "arguments": toJSON(s.args)}
		if namespace, name, ok := strings.Cut(s.tool, namespaceEnd); ok {
			item["namespace"], item["name"] = namespace, name
		}
	}
	events(w,
		args{"type": "response.created", "response": args{"id": id}},
		args{"type": "response.output_item.done", "output_index": 0, "item": item},
		args{"type": "response.completed", "response": args{"id": id, "usage": args{
			"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}
