package verbs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestAHostIsListedWhateverItsClock: the times that a host says are by its own clock.
func TestAHostIsListedWhateverItsClock(t *testing.T) {
	for skew, want := range map[time.Duration]string{1000 * time.Hour: " 0s", -73 * time.Hour: " 3d"} {
		at := time.Now().Add(skew).Format(time.RFC3339Nano)
		r := newRunner(t)
		r.Fleet = func() Fleet {
			return hostile(fmt.Sprintf(`[{"name":"there","state":"running","createdAt":%q,`+
				`"lastCommand":{"line":"make","startedAt":%q}}]`, at, at))
		}
		got := r.run(t, "", "ls --wide")
		rows := strings.Split(got.stdout, "there")
		if len(rows) != 2 || got.stderr != "" || strings.Count(rows[1], want) != 2 {
			t.Errorf("of a host whose clock is %v ahead, it lists %+v", skew, got)
		}
	}
}
