package rpc

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// ExplainTooLong returns w for a WebSocket upgrader, so that a peer whose message is
// longer than max bytes, the limit that [NewWebSocket] is given, is told so. gorilla
// sees that in the header of a frame and closes without a reason, which leaves no room
// for another close (RFC 6455 section 5.5.1).
func ExplainTooLong(w http.ResponseWriter, max int) http.ResponseWriter {
	return explaining{ResponseWriter: w, max: max}
}

// tooLong is what a peer is told.
func tooLong(max int64) error { return fmt.Errorf("a message was longer than %d bytes", max) }

type explaining struct {
	http.ResponseWriter
	max int
}

// Hijack is [http.Hijacker]'s.
func (w explaining) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return explained{Conn: c, max: int64(w.max)}, rw, nil
}

// explained is the server's side of a connection, whose frames are not masked. A
// control frame is one write.
type explained struct {
	net.Conn
	max int64
}

// closeUnexplained is the close frame that gorilla writes: FIN and opcode, a length,
// and 1009.
var closeUnexplained = []byte{0x80 | websocket.CloseMessage, 2, websocket.CloseMessageTooBig >> 8, websocket.CloseMessageTooBig & 0xff}

func (c explained) Write(p []byte) (int, error) {
	if !bytes.Equal(p, closeUnexplained) {
		return c.Conn.Write(p)
	}
	reason := websocket.FormatCloseMessage(websocket.CloseMessageTooBig, tooLong(c.max).Error())
	if _, err := c.Conn.Write(append([]byte{p[0], byte(len(reason))}, reason...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
