package carry_test

import (
	"fmt"
	"testing"
)

// TestTextForAnotherHostIsTypedAsItIsWritten: the door hands on the text and takes nothing from it.
func TestTextForAnotherHostIsTypedAsItIsWritten(t *testing.T) {
	_, home, _ := newTown(t, "box1")
	for i, c := range []struct {
		local      bool
		send, want string
	}{
		{false, `box1/work it's  "a  b" -- c --enter`, `it's  "a  b" -- c|`},
		{false, `--enter box1/work -- x  y --enter`, `x  y --enter|`},
		{true, `box1/work 'it'\''s ' '"a  b"' --enter`, `it's  "a  b"|`},
		{true, `box1/work -- 'x  y' --enter`, `x  y --enter`},
	} {
		home.run("rm box1/work")
		program := fmt.Sprintf(`stty raw -echo; printf ready; head -c %d | tr '\r' '|'`, len(c.want))
		if out, status := home.run("new --on box1 -d -n work -- " + program); status != 0 {
			t.Fatal(out)
		}
		home.run("wait --match ready --timeout 60s box1/work")
		p := newPipes("")
		from := home.caller(p)
		from.Local = c.local
		if exit := home.runner.Exec(t.Context(), from, "send "+c.send); exit.Status != 0 {
			t.Errorf("%d: send %s: %+v", i, c.send, exit)
		}
		p.Wait()
		home.run("wait --timeout 60s box1/work")
		if out, _ := home.run("log --raw box1/work"); out != "ready"+c.want {
			t.Errorf("%d: send %s: typed %q", i, c.send, out)
		}
	}
}
