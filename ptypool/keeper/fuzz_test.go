package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// packetPair returns both ends of a connection.
func packetPair(t *testing.T) (near, far *conn) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = &conn{UnixConn: c.(*net.UnixConn)}
	}
	return ends[0], ends[1]
}

// countFDs returns how many descriptors this process has open.
func countFDs(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// FuzzPackets sends packets to a keeper: each line of the input is one, with as many descriptors as
// there are plus signs before it. Whatever they are, each request is answered or the connection
// ends, and no descriptor is left open. The descriptors are empty, so that no program is ever
// started.
func FuzzPackets(f *testing.F) {
	for _, seed := range []string{
		`{"op":"hello","seq":1,"protocol":1,"oldest":1,"pid":7}` + "\n" + `{"op":"list","seq":2}`,
		`{"op":"hello","protocol":1}` + "\n" + `+{"op":"start","seq":2,"fds":["program"]}`,
		`{"op":"hello","protocol":1}` + "\n" + `+++{"op":"start","fds":["a","b","c"]}`,
		`{"op":"hello","protocol":1}` + "\n" + `{"op":"take","seq":2,"id":"t"}` + "\n" +
			`{"op":"close","id":"t","name":"stdout"}` + "\n" + `{"op":"forget","id":"t"}` + "\n" +
			`{"op":"take","seq":3,"id":"t"}`,
		`{"op":"hello","protocol":1}` + "\n" + `{"op":"stop","seq":2}`,
		`{"op":"hello","protocol":0,"seq":1}`, `+{"op":"hello","protocol":1}`, "\xff", "+", "",
		`+{"op":"hello","protocol":1,"fds":["x","y"]}`,
		`{"op":"hello","protocol":1}` + "\n" + `{"op":"nothing","seq":18446744073709551615}`,
	} {
		f.Add([]byte(seed))
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		f.Fatal(err)
	}
	defer null.Close()
	f.Fuzz(func(t *testing.T, input []byte) {
		before := countFDs(t)
		play(t, input, int(null.Fd()))
		if after := countFDs(t); after != before {
			t.Errorf("%d descriptors were open before, %d after", before, after)
		}
	})
}

// play has a keeper with one terminal, whose output is a pipe, read the packets.
func play(t *testing.T, input []byte, null int) {
	s := &server{
		cfg: Config{Log: log.New(io.Discard, "", 0)},
		buf: make([]byte, drainRead), terms: map[string]*kept{},
	}
	s.ctx, s.end = context.WithCancel(t.Context())
	defer s.end()
	s.idle = time.AfterFunc(time.Hour, s.end)
	var output [2]int
	if err := unix.Pipe2(output[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	unix.Close(output[1])
	s.add(newKept(Program{ID: "t", Pipes: true}, 1, []file{{fdStdout, output[0]}}))

	near, far := packetPair(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serve(near)
	}()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			m, err := far.receive()
			if err != nil {
				return
			}
			closeFiles(m.files)
		}
	}()
	for packet := range bytes.SplitSeq(input, []byte{'\n'}) {
		rest := bytes.TrimLeft(packet, "+")
		var rights []byte
		if n := min(len(packet)-len(rest), maxFDs+2); n > 0 {
			fds := make([]int, n)
			for i := range fds {
				fds[i] = null
			}
			rights = unix.UnixRights(fds...)
		}
		if _, _, err := far.WriteMsgUnix(rest, rights, nil); err != nil {
			break // the keeper has ended the connection
		}
	}
	_ = far.CloseWrite()
	<-served
	<-answered
	far.Close()
	s.abandon()
}

// FuzzMessage reads a packet as host and keeper do. The message, encoded again, must be read as the
// same one.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"op":"answer","seq":1,"terms":[{"id":"t","pid":1,"exit":{"status":256,"ticks":1}}],` +
		`"more":true}`))
	f.Add([]byte(`{"op":"answer","error":"no","errno":2,"busy":true}`))
	f.Fuzz(func(t *testing.T, packet []byte) {
		var m message
		if json.Unmarshal(packet, &m) != nil {
			return
		}
		m.FDs = nil
		near, far := packetPair(t)
		defer near.Close()
		defer far.Close()
		if err := near.send(m); err != nil {
			return // too long: JSON may escape what was not escaped
		}
		got, err := far.receive()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(m)
		if again, _ := json.Marshal(got); !bytes.Equal(want, again) {
			t.Errorf("%s was read as %s", want, again)
		}
	})
}
