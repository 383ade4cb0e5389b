package carry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

func TestJSONHasTheURIsThatWorkAtTheDoor(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.makes("home", "own", "own-")
	home.makes("box1", "build", "build-")
	home.host.SetFleet("home")
	boxes[0].host.SetFleet("box1")
	want := map[string]string{"own": "ahp-terminal:/own", "build": "ahp-terminal://box1/build"}
	lists := func(when string) {
		t.Helper()
		out, _ := home.run("ls --json")
		var list []struct{ Name, URI string }
		hosttest.Check(t, json.NewDecoder(strings.NewReader(out)).Decode(&list))
		if len(list) != len(want) {
			t.Errorf("%s there are %s", when, out)
		} else if list[0].Name != "own" {
			t.Errorf("%s this host's are not the first: %s", when, out)
		}
		for _, i := range list {
			if i.URI != want[i.Name] {
				t.Errorf("%s %s is %s, want %s", when, i.Name, i.URI, want[i.Name])
			}
		}
	}
	lists("when both are there")
	for name, uri := range want {
		if out, _ := home.run("peek " + uri); !strings.HasPrefix(out, name+"-") {
			t.Errorf("%s shows %q", uri, out)
		}
	}
	boxes[0].failing()()
	lists("when one is silent")
}
