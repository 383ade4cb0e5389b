package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// ExplainTooLong returns a ResponseWriter to give to a WebSocket upgrader instead of w, so that the
// sender of a message longer than max bytes is told the limit. max must be that of [NewWebSocket].
// Without it gorilla sends a close frame that has no reason, and no other may follow it (RFC 6455
// section 5.5.1).
func ExplainTooLong(w http.ResponseWriter, max int) http.ResponseWriter {
	return explaining{ResponseWriter: w, max: max}
}

// errTooLong is what the peer reads.
func errTooLong(max int64) error {
	return fmt.Errorf("a message was longer than %d bytes", max)
}

type explaining struct {
	http.ResponseWriter
	max int
}

// Hijack implements [http.Hijacker].
func (w explaining) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &explained{Conn: c, max: int64(w.max)}, rw, nil
}

// explained is the server's side of a connection, which does not mask its frames, below gorilla. It
// replaces two frames that gorilla writes in one piece each: the close frame for a message that is
// too long, and an empty text frame while there are frames to be sent.
type explained struct {
	net.Conn
	max    int64
	frames []byte // to be sent in place of the empty text frame; of the goroutine that writes that
}

// closeUnexplained is the close frame that gorilla writes: FIN and the opcode, the
// length, and the code 1009.
var closeUnexplained = []byte{finalFrame | websocket.CloseMessage, 2,
	websocket.CloseMessageTooBig >> 8, websocket.CloseMessageTooBig & 0xff}

// emptyText is the text frame that gorilla writes for an empty message.
var emptyText = []byte{finalFrame | websocket.TextMessage, 0}

func (c *explained) Write(p []byte) (int, error) {
	switch {
	case bytes.Equal(p, emptyText) && c.frames != nil:
		if _, err := c.Conn.Write(c.frames); err != nil {
			return 0, err
		}
		return len(p), nil
	case !bytes.Equal(p, closeUnexplained):
		return c.Conn.Write(p)
	}
	reason := websocket.FormatCloseMessage(websocket.CloseMessageTooBig, errTooLong(c.max).Error())
	if _, err := c.Conn.Write(append([]byte{p[0], byte(len(reason))}, reason...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
