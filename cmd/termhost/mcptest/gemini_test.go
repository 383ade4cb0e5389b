package mcptest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// gemini is the wire of models/M:streamGenerateContent (https://ai.google.dev/api/generate-content).
var gemini = wire{parse: parseGemini, answer: answerGemini}

func parseGemini(body []byte) (*request, error) {
	var in struct {
		Tools    []struct{ FunctionDeclarations []struct{ Name string } }
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response struct{ Output, Error string }
				}
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			r.tools = append(r.tools, f.Name)
		}
	}
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			if f := p.FunctionResponse; f != nil {
				r.results = append(r.results, f.Response.Output+f.Response.Error)
			}
		}
	}
	return r, nil
}

func answerGemini(w http.ResponseWriter, r *request, s step) {
	part := args{"text": s.says}
	if s.tool != "" {
		part = args{"functionCall": args{"id": fmt.Sprint("call_", len(r.results)), "name": s.tool, "args": s.args}}
	}
	answer := args{
		"candidates":    []any{args{"content": args{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": args{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if r.stream {
		events(w, answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, toJSON(answer))
}
