package sshd

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp/host"
)

func TestWhoListsTheViewersAndAnAdminKicksThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	build := r.open(r.dial("alice"), 90, 30, "new -n build -- echo here; exec sleep 1000")
	build.sees("here")
	bob := r.open(r.dial("bob"), 70, 20, "attach build")
	bob.sees("alice has the keyboard")

	got := r.ssh("bob", "", "who --json build")
	var list []host.Viewer
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	for i := range list {
		if list[i].Since.IsZero() || list[i].Connection == "" {
			t.Errorf("since or the connection is missing: %+v", list[i])
		}
		list[i].Since, list[i].Connection = list[0].Since, ""
	}
	want := []host.Viewer{
		{Name: "alice", Role: "admin", How: "ssh", Cols: 90, Rows: 30, Holds: true},
		{Name: "bob", Role: "operator", How: "ssh", Cols: 70, Rows: 20},
	}
	for i := range want {
		want[i].Since = list[0].Since
	}
	if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("who: %+v", list)
	}
	if got := r.ssh("bob", "", "who build").stdout; !strings.Contains(got, "alice  admin") ||
		!strings.Contains(got, "holds it") {
		t.Errorf("who: %q", got)
	}

	if got := r.ssh("bob", "", "kick build alice"); got.status != 1 ||
		!strings.Contains(got.stderr, "only an admin may kick") {
		t.Errorf("an operator's kick: %+v", got)
	}
	if got := r.ssh("alice", "", "kick build carol"); got.status != 1 ||
		!strings.Contains(got.stderr, `nobody named "carol" watches build`) {
		t.Errorf("kicking nobody: %+v", got)
	}
	if got := r.ssh("alice", "", "kick build bob"); got.status != 0 {
		t.Errorf("kick: %+v", got)
	}
	bob.sees("alice has ended your view of build")
	if got := bob.status(); got != 1 {
		t.Errorf("the status of who was kicked is %d", got)
	}
	back := r.open(r.dial("bob"), 70, 20, "attach -r build") // it is no ban
	back.sees("here")
	build.typeIn("\x1cd")
	build.sees("detached")
}
