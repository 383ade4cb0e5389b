package host_test

import (
	"sync"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

func TestAStalledReaderIsResynchronisedAndNineOthersGetEverything(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 1 << 20; c.ScrollbackBytes = 64 << 10 })
	term := run(t, h, carol, "x",
		"stty -icanon -echo -opost; printf ready; read x; yes 0123456789abcdef | head -c 3000000; printf THE-END; read x")
	awaitOutput(t, h, term, "ready")
	stalled := attach(t, h, eve, "x", window)
	var healthy []*viewer
	for range 9 {
		healthy = append(healthy, attach(t, h, eve, "x", host.AttachOptions{}))
	}
	owner := attach(t, h, carol, "x", window)
	if err := owner.a.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, v := range healthy {
		wg.Go(func() { v.shows("THE-END") })
	}
	wg.Wait()
	for i, v := range healthy {
		if v.lagged == 0 && len(v.out) != len("ready")+3000000+len("THE-END") {
			t.Errorf("reader %d got %d bytes", i, len(v.out))
		}
	}
	awaitOutput(t, h, term, "THE-END")
	stalled.shows("THE-END")
	if stalled.lagged != 1 {
		t.Errorf("it was told %d times that it fell behind", stalled.lagged)
	}
	want, err := hosttest.Peek(h, eve, term, true)
	if err != nil {
		t.Fatal(err)
	}
	screen := vt.New(80, 24, vt.Options{})
	screen.Feed(stalled.out, nil)
	if got := string(screen.AppendText(nil, true)); got != string(want) {
		t.Errorf("after the redraw it shows\n%s\nnot\n%s", got, want)
	}
}
