package ahp_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"termhost/ahp"
)

type reducerFixture struct {
	Description string            `json:"description"`
	Reducer     string            `json:"reducer"`
	Initial     json.RawMessage   `json:"initial"`
	Actions     []json.RawMessage `json:"actions"`
	Expected    json.RawMessage   `json:"expected"`
}

func TestReducersAgreeWithAHPsFixtures(t *testing.T) {
	for file, f := range fixtures[reducerFixture](t, "reducers") {
		t.Run(file, func(t *testing.T) {
			var reduced, expected state
			switch f.Reducer {
			case "root":
				reduced, expected = new(ahp.RootState), new(ahp.RootState)
			case "terminal":
				reduced, expected = new(ahp.TerminalState), new(ahp.TerminalState)
			default:
				t.Skipf("termhost has no %s channel", f.Reducer)
			}
			got, want := reduce(t, f, reduced), reencode(t, f.Expected, expected)
			if !sameJSON(t, got, want) {
				t.Errorf("%s\n got %s\nwant %s", f.Description, got, want)
			}
			// Compare with the fixture itself, too, and not only with what this package
			// has read of it.
			contains(t, parse(t, got), parse(t, f.Expected))
		})
	}
}

type state interface {
	json.Unmarshaler
	Apply(ahp.Action)
	AppendJSON([]byte, ahp.Shape) []byte
}

func reduce(t *testing.T, f reducerFixture, st state) []byte {
	t.Helper()
	if err := st.UnmarshalJSON(f.Initial); err != nil {
		t.Fatal(err)
	}
	for _, raw := range f.Actions {
		a, err := ahp.DecodeAction(raw)
		if err != nil {
			t.Fatal(err)
		}
		st.Apply(a)
	}
	return st.AppendJSON(nil, ahp.ShapeExitCode)
}

func reencode(t *testing.T, raw []byte, st state) []byte {
	t.Helper()
	if err := st.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return st.AppendJSON(nil, ahp.ShapeExitCode)
}

// contains fails unless got has everything that want has.
func contains(t *testing.T, got, want any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k := range w {
			if _, ok := g[k]; !ok {
				t.Errorf("%q is missing", k)
			}
			contains(t, g[k], w[k])
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			t.Errorf("got %d items, want %d", len(g), len(w))
			return
		}
		for i := range w {
			contains(t, g[i], w[i])
		}
	default:
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

type roundTripFixture struct {
	Type              string            `json:"type"`
	Input             json.RawMessage   `json:"input"`
	AcceptableOutputs []json.RawMessage `json:"acceptableOutputs"`
}

func TestRoundTripsAgreeWithAHPsFixtures(t *testing.T) {
	for file, f := range fixtures[roundTripFixture](t, "round-trips") {
		t.Run(file, func(t *testing.T) {
			var outputs [][]byte
			switch f.Type {
			case "JsonRpcMessage":
				outputs = append(outputs, remarshal[ahp.Message](t, f.Input))
			case "ActionEnvelope":
				outputs = append(outputs, remarshal[ahp.Envelope](t, f.Input), reappend(t, f.Input))
			default:
				t.Skipf("termhost has no %s", f.Type)
			}
			for _, out := range outputs {
				ok := false
				for _, want := range f.AcceptableOutputs {
					ok = ok || sameJSON(t, out, want)
				}
				if !ok {
					t.Errorf("got %s, want one of %s", out, f.AcceptableOutputs)
				}
			}
		})
	}
}

func remarshal[T any](t *testing.T, raw []byte) []byte {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reappend decodes an envelope and encodes it as the host does.
func reappend(t *testing.T, raw []byte) []byte {
	t.Helper()
	var e ahp.Envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	a, err := ahp.DecodeAction(e.Action)
	if err != nil {
		t.Fatal(err)
	}
	again := envelope{e.Channel, a, e.Origin, e.RejectionReason, e.ServerSeq}
	return again.append(ahp.ShapeExitCode)
}

// envelope is what ahp.AppendEnvelopeBody and a serverSeq make an envelope of.
type envelope struct {
	channel   string
	action    ahp.Action
	origin    *ahp.Origin
	rejection string
	seq       uint64
}

func (e envelope) append(shape ahp.Shape) []byte {
	out := ahp.AppendEnvelopeBody([]byte{'{'}, e.channel, e.action, e.origin, e.rejection, shape)
	out = append(out, `,"serverSeq":`...)
	out = strconv.AppendUint(out, e.seq, 10)
	return append(out, '}')
}
