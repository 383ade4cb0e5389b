package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp/client"
)

// The host of this test answers initialize and some pings. Then it goes on reading,
// but sends nothing any more, like a host that hangs.
func TestAHostThatFallsSilentIsLost(t *testing.T) {
	t.Parallel()
	const pings = 3
	var hosts sync.WaitGroup
	defer hosts.Wait()
	answered := make(chan struct{})
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		hosts.Go(func() { // ends with its pipe
			left := pings
			for in := bufio.NewScanner(theirs); in.Scan(); {
				var q struct {
					ID     int64
					Method string
				}
				check(t, json.Unmarshal(in.Bytes(), &q))
				switch {
				case q.Method == "initialize":
					fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":%d,"result":`+
						`{"protocolVersion":"1.0.0","serverSeq":1,"snapshots":[]}}`+"\n", q.ID)
				case q.Method == "ping" && left > 0:
					fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":%d,"result":null}`+"\n", q.ID)
					if left--; left == 0 {
						close(answered)
					}
				}
			}
		})
		return ours, nil
	}
	lost := make(chan client.State, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := client.Connect(ctx, client.Config{Dial: client.Lines(dial),
		Keepalive: 250 * time.Millisecond, MinBackoff: time.Hour, MaxBackoff: time.Hour,
		OnState: func(s client.State) {
			if !s.Connected {
				lost <- s
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case <-answered: // it was not lost while it answered
	case <-lost:
		t.Fatal("it was lost while it answered")
	}
	if err := c.Call(ctx, "terminal/wait_for_exit", nil, nil); !errors.Is(err, client.ErrLost) {
		t.Errorf("what waits for an answer gets %v", err)
	}
	select {
	case s := <-lost:
		if !strings.Contains(s.Err.Error(), "does not answer") {
			t.Errorf("it is lost because %v", s.Err)
		}
	case <-ctx.Done():
		t.Fatal("it is not lost")
	}
}
