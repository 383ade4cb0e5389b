package ptypool

import (
	"testing"

	"termhost/ptypool/vt"
)

func TestTheMeterTellsOfEachMebibyte(t *testing.T) {
	p := newPool(t, Config{})
	v, err := p.Virtual(80, 24, vt.Options{}, newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	m := p.Meter()
	print := func(n int) (much bool) {
		v.Lock()
		v.Feed(make([]byte, n))
		v.Unlock()
		select {
		case <-m.Much():
			return true
		default:
			return false
		}
	}
	const mebibyte = 1 << 20
	for i, want := range []bool{false, true, false, true} {
		if got := print(mebibyte / 2); got != want {
			t.Errorf("after half a MiB for the %d. time: %v", i+1, got)
		}
	}
	if !print(3 * mebibyte) {
		t.Error("three at once were not told of")
	}
	if got := m.Printed(); got != 5*mebibyte {
		t.Errorf("printed %d bytes", got)
	}
}
