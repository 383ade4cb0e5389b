package ahp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp"
)

func TestProgressIsInATerminalsMetaWhileThereIsSome(t *testing.T) {
	for want, is := range map[string]ahp.Progress{
		`"_meta":{"termhost":{"progress":{"state":"normal","percent":0}}}`:        {State: "normal"},
		`"_meta":{"termhost":{"progress":{"state":"error","percent":42}}}`:        {State: "error", Percent: 42},
		`"_meta":{"termhost":{"progress":{"state":"indeterminate","percent":0}}}`: {State: "indeterminate"},
		"": {},
	} {
		st := ahp.TerminalState{Title: "t", Claim: ahp.ClientClaim("c"),
			Termhost: ahp.TerminalMeta{Progress: is}}
		text := string(st.AppendJSON(nil, ahp.ShapeExitCode))
		if want == "" && strings.Contains(text, "_meta") || !strings.Contains(text, want) {
			t.Errorf("%+v is %s, want %s", is, text, want)
		}
		var got struct {
			Meta struct{ Termhost ahp.TerminalMeta } `json:"_meta"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Meta.Termhost.Progress != is {
			t.Errorf("%s is read as %+v, %v", text, got.Meta.Termhost.Progress, err)
		}
	}
}
