package mcptest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic is the wire of /v1/messages (https://docs.anthropic.com/en/api/messages-streaming).
var anthropic = wire{parse: parseAnthropic, answer: answerAnthropic}

func parseAnthropic(body []byte) (*request, error) {
	var in struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct {
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{stream: in.Stream}
	for _, t := range in.Tools {
		r.tools = append(r.tools, t.Name)
	}
	for _, m := range in.Messages {
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			continue // a string
		}
		for _, p := range parts {
			if p.Type == "tool_result" {
				r.results = append(r.results, texts(p.Content))
			}
		}
	}
	return r, nil
}

func answerAnthropic(w http.ResponseWriter, r *request, s step) {
	id := fmt.Sprint("msg_", len(r.results))
	message := args{"id": id, "type": "message", "role": "assistant", "model": "fake", "content": []any{},
		"usage": args{"input_tokens": 1, "output_tokens": 1}}
	block, delta, reason := args{"type": "text", "text": ""}, args{"type": "text_delta", "text": s.says}, "end_turn"
	if s.tool != "" {
		block = args{"type": "tool_use", "id": fmt.Sprint("toolu_", len(r.results)), "name": s.tool, "input": args{}}
		delta, reason = args{"type": "input_json_delta", "partial_json": toJSON(s.args)}, "tool_use"
	}
	if !r.stream {
		w.Header().Set("Content-Type", "application/json")
		block["text"], message["content"], message["stop_reason"] = s.says, []any{block}, reason
		fmt.Fprint(w, toJSON(message))
		return
	}
	events(w,
		args{"type": "message_start", "message": message},
		args{"type": "content_block_start", "index": 0, "content_block": block},
		args{"type": "content_block_delta", "index": 0, "delta": delta},
		args{"type": "content_block_stop", "index": 0},
		args{"type": "message_delta", "delta": args{"stop_reason": reason}, "usage": args{"output_tokens": 1}},
		args{"type": "message_stop"})
}
