package ahp_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"termhost/ahp"
)

func TestInputMayBeBytes(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"terminal/input","data":"\u001b[M \u00e9!"}`:                                     "\x1b[M \xc3\xa9!",
		`{"type":"terminal/input","data":"\u001b[M \u00e9!","_meta":{"termhost":{"bytes":true}}}`: "\x1b[M \xe9!",
	} {
		a, err := ahp.DecodeAction([]byte(in))
		if input, ok := a.(ahp.TerminalInput); err != nil || !ok || string(input.Data) != want {
			t.Errorf("%s is %q, %v", in, input.Data, err)
		}
	}
}

func TestDecodeActionNamesTheFieldThatIsWrong(t *testing.T) {
	for _, tc := range []struct{ in, field string }{
		{``, "action.type"},
		{`null`, "action.type"},
		{`[]`, "action.type"},
		{`"terminal/data"`, "action.type"},
		{`{}`, "action.type"},
		{`{"type":5}`, "action.type"},
		{`{"type":null}`, "action.type"},
		{`{"type":""}`, "action.type"},
		{`{"type":"terminal/data"}`, "action.data"},
		{`{"type":"terminal/data","data":null}`, "action.data"},
		{`{"type":"terminal/input","data":7}`, "action.data"},
		{`{"type":"terminal/input","data":"\u0100","_meta":{"termhost":{"bytes":true}}}`,
			"action.data"},
		{`{"type":"terminal/output","data":{}}`, "action.data"},
		{`{"type":"terminal/resized","rows":24}`, "action.cols"},
		{`{"type":"terminal/resized","cols":80}`, "action.rows"},
		{`{"type":"terminal/resized","cols":"80","rows":24}`, "action.cols"},
		{`{"type":"terminal/resized","cols":80.5,"rows":24}`, "action.cols"},
		{`{"type":"terminal/resized","cols":80,"rows":1e99}`, "action.rows"},
		{`{"type":"terminal/claimed"}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":null}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":"c1"}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":{"kind":"client"}}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":{"kind":"client","clientId":""}}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":{"kind":"client","session":"s"}}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":{"kind":"session"}}`, "action.claim"},
		{`{"type":"terminal/claimed","claim":{"kind":"owner","clientId":"c"}}`, "action.claim"},
		{`{"type":"terminal/titleChanged"}`, "action.title"},
		{`{"type":"terminal/titleChanged","title":[]}`, "action.title"},
		{`{"type":"terminal/cwdChanged"}`, "action.cwd"},
		{`{"type":"terminal/exited","exitCode":"0"}`, "action.exitCode"},
		{`{"type":"terminal/commandExecuted","commandLine":"x","timestamp":1}`, "action.commandId"},
		{`{"type":"terminal/commandExecuted","commandId":"a","timestamp":1}`, "action.commandLine"},
		{`{"type":"terminal/commandExecuted","commandId":"a","commandLine":"x"}`,
			"action.timestamp"},
		{`{"type":"terminal/commandFinished","exitCode":0}`, "action.commandId"},
		{`{"type":"terminal/commandFinished","commandId":"a","durationMs":"1"}`,
			"action.durationMs"},
		{`{"type":"root/terminalsChanged"}`, "action.terminals"},
		{`{"type":"root/terminalsChanged","terminals":null}`, "action.terminals"},
		{`{"type":"root/terminalsChanged","terminals":[{"resource":"x","title":"t","claim":{}}]}`,
			"action.terminals"},
		{`{"type":"root/terminalsChanged","terminals":[{"resource":"x","title":"t"}]}`,
			"action.terminals"},
		{`{"type":"root/terminalsChanged","terminals":[{"resource":5}]}`,
			"action.terminals.resource"},
		{`{"type":"root/agentsChanged"}`, "action.agents"},
		{`{"type":"root/agentsChanged","agents":null}`, "action.agents"},
		{`{"type":"root/activeSessionsChanged"}`, "action.activeSessions"},
		{`{"type":"root/configChanged"}`, "action.config"},
		{`{"type":"root/configChanged","config":[]}`, "action.config"},
	} {
		a, err := ahp.DecodeAction(json.RawMessage(tc.in))
		var fe *ahp.FieldError
		if !errors.As(err, &fe) || fe.Field != tc.field || a != nil {
			t.Errorf("%s: got %v, %v; want an error about %s", tc.in, a, err, tc.field)
		}
	}
}

func TestUnknownActionsKeepTheirJSONAndReduceToNothing(t *testing.T) {
	raw := json.RawMessage(`{"type":"terminal/painted","colour":3}`)
	a, err := ahp.DecodeAction(raw)
	if err != nil || a.Type() != "terminal/painted" {
		t.Fatal(a, err)
	}
	if got := string(ahp.AppendAction(nil, a, ahp.ShapeLifecycle)); got != string(raw) {
		t.Error(got)
	}
	st := sampleTerminals()[1]
	before := string(st.AppendJSON(nil, ahp.ShapeLifecycle))
	st.Apply(a)
	if after := string(st.AppendJSON(nil, ahp.ShapeLifecycle)); after != before {
		t.Error(after)
	}
}

func TestAnUnknownActionThatIsNotJSONIsNotHandedOn(t *testing.T) {
	for _, raw := range []string{`{"type":"x/y"`, `{"type":"x/y","z":}`, `{"type":"x/y"}}`} {
		var fe *ahp.FieldError
		if a, err := ahp.DecodeAction(json.RawMessage(raw)); !errors.As(err, &fe) || fe.Field != "action" {
			t.Errorf("%s: %v, %v", raw, a, err)
		}
	}
}

func TestUnknownKeysAreIgnored(t *testing.T) {
	raw := json.RawMessage(`{"type":"terminal/resized","cols":1,"rows":2,"pixels":{"x":1}}`)
	a, err := ahp.DecodeAction(raw)
	if err != nil || a != (ahp.TerminalResized{Cols: 1, Rows: 2}) {
		t.Error(a, err)
	}
}

func TestSubscriptionsAreStringsOrObjectsWithAChannel(t *testing.T) {
	var p ahp.ReconnectParams
	in := `{"subscriptions":["ahp-root://",` +
		`{"channel":"ahp-terminal:/a","delivery":{"maxLatencyMs":5}},{}]}`
	if err := json.Unmarshal([]byte(in), &p); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Subscriptions, []ahp.SubscriptionRef{"ahp-root://", "ahp-terminal:/a", ""}) {
		t.Errorf("%q", p.Subscriptions)
	}
	for _, wrong := range []string{`5`, `["x"]`, `{"channel":5}`} {
		if err := json.Unmarshal([]byte(`{"subscriptions":[`+wrong+`]}`), &p); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

func TestErrorsCarryTheirDataAsAnObject(t *testing.T) {
	e := ahp.FieldProblem("cwd", "is \x1b no directory")
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back ahp.Error
	err = json.Unmarshal(b, &back)
	if err != nil || back.Code != ahp.CodeInvalidParams || string(back.Data) != `{"field":"cwd"}` {
		t.Errorf("%s, %v", b, err)
	}
	b, _ = json.Marshal(ahp.NewError(ahp.CodeParse, "x"))
	if string(b) != `{"code":-32700,"message":"x"}` {
		t.Errorf("%s", b)
	}
}

func FuzzDecodeAction(f *testing.F) {
	for _, a := range sampleActions() {
		f.Add(ahp.AppendAction(nil, a, ahp.ShapeLifecycle))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := ahp.DecodeAction(raw)
		if err != nil {
			var fe *ahp.FieldError
			if !errors.As(err, &fe) || fe.Field == "" {
				t.Fatalf("an error without a field: %v", err)
			}
			return
		}
		for shape := range ahp.Shape(ahp.Shapes) {
			once := ahp.AppendAction(nil, a, shape)
			b, err := ahp.DecodeAction(once)
			if err != nil {
				t.Fatalf("%s became %s: %v", raw, once, err)
			}
			if twice := ahp.AppendAction(nil, b, shape); !sameJSON(t, once, twice) {
				t.Fatalf("%s became %s, then %s", raw, once, twice)
			}
		}
	})
}

func TestEnvelopesAreDecodedAsEncodingJSONDoes(t *testing.T) {
	var samples []string
	for _, a := range sampleActions() {
		for _, origin := range []*ahp.Origin{nil, {ClientID: "c\u00e9", ClientSeq: 7}} {
			raw := ahp.AppendEnvelopeBody([]byte(`{`), "ahp-terminal:/a", a, origin, "no",
				ahp.ShapeLifecycle)
			samples = append(samples, string(append(raw, `,"serverSeq":18446744073709551615}`...)))
		}
	}
	samples = append(samples, `{}`, ` { "serverSeq" : 1 , "new" : {"channel":1} , "channel":"\u0061" } `,
		`{"origin":null}`, `{"channel":1}`, `{"serverSeq":-1}`, `{"serverSeq":"1"}`, `{"origin":[]}`,
		`{"rejectionReason":{}}`, `[]`, `"x"`, ``, `{`, `{"channel"`, `{"channel":"a",}`, `{"action":}`)
	for _, s := range samples {
		got, err := ahp.DecodeEnvelope([]byte(s))
		var want ahp.Envelope
		wantErr := json.Unmarshal([]byte(s), &want)
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, but encoding/json says %v", s, err, wantErr)
		} else if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", s, got, want)
		}
	}
}
