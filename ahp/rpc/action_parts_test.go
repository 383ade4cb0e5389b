package rpc

import (
	"fmt"
	"reflect"
	"testing"

	"termhost/ahp"
)

// An action with text is decoded from what the message's scan has found, and any other one from its
// params: the difference must not show.
func FuzzTextOfAnAction(f *testing.F) {
	for _, params := range []string{
		`{"channel":"c","clientSeq":1,"action":{"type":"terminal/input","data":"ls\r"}}`,
		`{"channel":"c","clientSeq":-1,"action":{"type":"terminal/input","data":"\u00e9\ud83d\ude00","_meta":{"termhost":{"bytes":true}}}}`,
		`{"action":{"data":"x","type":"terminal/output","_meta":{"termhost":{"notice":"n"}}},"clientSeq":7,"channel":"c"}`,
		`{"channel":"c","clientSeq":2,"action":{"type":"terminal/output","data":"\udc00x\ud800"}}`,
		`{"channel":"c","clientSeq":2,"action":{"type":"terminal\/input","data":null}}`,
		`{"channel":"c","clientSeq":2,"action":{"type":"terminal/input"}}`,
		`{"channel":"c","clientSeq":2,"action":{"type":"terminal/input","data":7}}`,
		`{"channel":"c","clientSeq":2,"action":{"type":"terminal/data","data":{"type":"x"}}}`,
		`{"channel":"c","clientSeq":1.5,"action":{"type":"terminal/input","data":"x"}}`,
		`{"channel":"c","clientSeq":"1","action":{"type":"terminal/input","data":"x"}}`,
		`{"channel":7,"clientSeq":1,"action":{"type":"terminal/input","data":"x"}}`,
		`{"channel":"","clientSeq":1,"action":{"type":"terminal/input","data":"x"}}`,
		`{"channel":"c","clientSeq":99999999999999999999,"action":{"type":"terminal/input","data":"x"}}`,
		`{"channel":"c","clientSeq":1,"action":[{"type":"terminal/input","data":"x"}]}`,
		`{"channel":"c","clientSeq":1,"action":{"type":"terminal/resized","cols":80,"rows":24}}`,
		`{"channel":"c","clientSeq":1,"params":{"action":{"type":"terminal/input","data":"x"}}}`,
		`{"channel":"c","clientSeq":1}`, `[]`, `null`,
	} {
		f.Add(params)
	}
	f.Fuzz(func(t *testing.T, params string) {
		r, bad := parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"dispatchAction","params":%s}`, params))
		if bad != nil || r == nil || r.method != "dispatchAction" {
			return
		}
		got, action, ok, err := r.action.text()
		if !ok {
			return // it is decoded from its params
		}
		var want dispatchParams
		if e := ahp.DecodeParams(r.params, &want); e != nil {
			t.Fatalf("%s is taken, but: %v", params, e)
		}
		wanted, wantedErr := ahp.DecodeAction(want.Action)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(action, wanted) || !reflect.DeepEqual(err, wantedErr) {
			t.Errorf("%s is %+v, %+v, %v, want %+v, %+v, %v", params, got, action, err, want, wanted, wantedErr)
		}
	})
}

// TestAnActionWithTextIsDecodedFromTheScan fails if the quick way is not taken at all.
func TestAnActionWithTextIsDecodedFromTheScan(t *testing.T) {
	r, _ := parse([]byte(`{"jsonrpc":"2.0","method":"dispatchAction","params":` +
		`{"channel":"c","clientSeq":1,"action":{"type":"terminal/input","data":"ls"}}}`))
	if _, action, ok, err := r.action.text(); !ok || err != nil || string(action.(ahp.TerminalInput).Data) != "ls" {
		t.Errorf("it is %v: %v, %v", action, ok, err)
	}
}
