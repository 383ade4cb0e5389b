package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/fleet/bus"
)

func TestANameSetHasItsNamesAndFewOthers(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("sh-%d", i))
	}
	s := newNameSet(names)
	wrong := 0
	for i := range 100 {
		if !s.has(names[i]) {
			t.Errorf("%s is missing", names[i])
		}
	}
	for i := range 4000 {
		if s.has(fmt.Sprintf("build-%d", i)) {
			wrong++
		}
	}
	if wrong > 40 {
		t.Errorf("%d of 4000 names are in it that are not", wrong)
	}
	if newNameSet(nil).has("sh-1") || nameSet("short").has("sh-1") {
		t.Error("a set that has no names, or is none, has one")
	}
}

func TestAHeartbeatHasRoomForTheNames(t *testing.T) {
	labels := map[string]string{"k": strings.Repeat("v", MaxLabels-8)}
	p, err := json.Marshal(sign{Boot: strings.Repeat("B", 26), Labels: labels, Terminals: 500,
		Version: "v1.22.333-0.20261126071500-0123456789ab", Roster: 10_000, Asks: true,
		Names: newNameSet([]string{"a"})})
	if err != nil || len(p) > bus.MaxAnnouncement {
		t.Errorf("%d bytes, %v", len(p), err)
	}
}
