package authz

import (
	"fmt"
	"testing"
)

func TestTheKeyOfASource(t *testing.T) {
	t.Parallel()
	s := Source{ID: "abc", Door: "unix"}
	guest := Principal{ID: "guest:dora:1", Guest: "1", Fingerprint: "SHA256:dora"}
	for _, c := range []struct {
		p    Principal
		want string
	}{
		{Principal{ID: "SHA256:alice/bot", Token: "bot"}, "[key SHA256:alice/bot door unix connection abc]"},
		{guest, "[key SHA256:dora door unix connection abc]"},
		{Principal{ID: "uid:0", Inside: true}, "[key uid:0 door unix connection abc inside true]"},
		{Principal{}, "[door unix connection abc]"},
	} {
		if got := fmt.Sprint(s.Attrs(c.p)); got != c.want {
			t.Errorf("for %s it is %s", c.p.ID, got)
		}
	}
}
