package typed_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"termhost/sshd/typed"
)

const (
	inTime = 1 // heartbeats
	old    = 2 // that is late by a minute
)

func late(heard uint64) time.Duration {
	if heard == old {
		return time.Minute
	}
	return -time.Second
}

func TestWhatComesTooLateIsDropped(t *testing.T) {
	type said struct {
		heard uint64
		text  string
	}
	for name, c := range map[string]struct {
		said []said
		want string
		lost int
	}{
		"nothing is late": {[]said{{inTime, "a"}, {inTime, "bc\x1b[A"}}, "abc\x1b[A", 0},
		"keys": {[]said{{inTime, "a"}, {old, "bc\x1b[A"}, {old, "\x1b[I"}, {inTime, "d"}},
			"ad", 3},
		"a paste": {[]said{{old, "\x1b[200~ls\r\x1b[201~x"}, {inTime, "a"}}, "a", 2},
		"the beginning of a paste": {[]said{{old, "\x1b[200~ls\r"}, {inTime, "rm\r\x1b[201~a"}},
			"a", 1},
		"the middle": {[]said{{inTime, "\x1b[200~ls\r"}, {old, "rm\r"}, {old, "rm\r"},
			{inTime, "cd\r\x1b[201~a"}}, "\x1b[200~ls\r\x1b[201~a", 1},
		"the end": {[]said{{inTime, "\x1b[200~ls\r"}, {old, "rm\r\x1b[201~x"}, {inTime, "a"}},
			"\x1b[200~ls\r\x1b[201~a", 2},
	} {
		var all bytes.Buffer
		for _, s := range c.said {
			all.Write(typed.Message(s.heard, []byte(s.text)))
		}
		for how, in := range map[string]io.Reader{"whole": bytes.NewReader(all.Bytes()),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(all.Bytes()))} {
			lost := 0
			got, err := io.ReadAll(typed.NewReader(in, late, func(keys int) { lost += keys }))
			if string(got) != c.want || lost != c.lost || err != nil {
				t.Errorf("%s, %s: %q, %d keys lost, %v", name, how, got, lost, err)
			}
		}
	}
}

// A program that does not read makes nothing late: what waits for it has come in time.
func TestWhatWaitsForAProgramIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		in := bytes.NewReader(bytes.Join([][]byte{typed.Message(inTime, []byte("a")),
			typed.Message(inTime, []byte("b")), typed.Message(inTime, []byte("c"))}, nil))
		r := typed.NewReader(in, func(uint64) time.Duration {
			return time.Since(began) - 10*time.Second
		}, func(keys int) { t.Errorf("%d keys lost", keys) })
		var got []byte
		for range 3 {
			var b [1]byte
			_, _ = io.ReadFull(r, b[:])
			got = append(got, b[0])
			time.Sleep(time.Hour)
		}
		if string(got) != "abc" {
			t.Errorf("%q", got)
		}
	})
}

func TestAMessageThatIsTooLongIsRefused(t *testing.T) {
	long := bytes.NewReader(typed.Message(inTime, make([]byte, typed.MaxText+1)))
	if _, err := typed.NewReader(long, late, nil).Read(make([]byte, 1)); err == nil {
		t.Error("it is read")
	}
}
