package rpc

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// How long a WebSocket's parts may take. A peer whose network has gone is
// noticed pingInterval after the last sign of it at the latest, plus pongWait:
// within a minute.
const (
	pingInterval = 30 * time.Second
	pongWait     = 25 * time.Second
	// controlWait is how long a ping may wait for its turn and be written.
	controlWait = 10 * time.Second
	// closeWait is how long a peer may take to read why it is closed.
	closeWait = time.Second
)

// maxReason is how long a close frame's reason may be, in bytes (RFC 6455
// section 5.5: a control frame carries 125, two of which are the code).
const maxReason = 123

// WebSocket is a Transport of one message per text frame (RFC 6455), on either
// side. The connection below it should be a [Progress], or else writes to a
// stalled peer wait for ever.
type WebSocket struct {
	ws   *websocket.Conn
	code func() int
	max  int64

	heard   atomic.Bool // bytes have come since the last ping
	writing atomic.Bool // a message is being written
	closing atomic.Bool // the close frame is on its way: what still comes is passed over

	once  sync.Once
	mu    sync.Mutex // leaf
	timer *time.Timer
	asked bool  // a ping waits for its answer
	cause error // why this side closed; nil: it did not, or was told to
}

// NewWebSocket makes a Transport of ws, which belongs to it from then on.
// Messages of more than max bytes end it. code gives the close code (RFC 6455
// section 7.4.1) that goes with a reason, when it is closed for one; nil: policy
// violation. [WebSocket.Finish] must be called.
func NewWebSocket(ws *websocket.Conn, max int, code func() int) *WebSocket {
	w := &WebSocket{ws: ws, code: code, max: int64(max)}
	ws.SetReadLimit(w.max)
	pong := func(string) error { w.heard.Store(true); return nil }
	answer := ws.PingHandler()
	ws.SetPongHandler(pong)
	ws.SetPingHandler(func(s string) error { w.heard.Store(true); return answer(s) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(pingInterval, w.beat)
	return w
}

// errBinary ends a connection whose peer sends what AHP does not.
var errBinary = errors.New("binary frames are not supported: send each message as a text frame")

// errNotText ends a connection whose peer sends text that is none: RFC 6455 section
// 8.1 leaves no choice. Where messages are lines there is no such rule, and the peer
// is answered with an error: see scan.
var errNotText = errors.New("a text frame is not valid UTF-8: write bytes that are none as U+FFFD")

// Read returns the next message. A peer that closed in good order gives io.EOF,
// one that gave a reason its *websocket.CloseError.
func (w *WebSocket) Read() ([]byte, error) {
	for {
		kind, r, err := w.ws.NextReader()
		if err != nil {
			return nil, w.ended(err)
		}
		w.heard.Store(true)
		if w.closing.Load() {
			continue
		}
		if kind != websocket.TextMessage {
			w.end(websocket.CloseUnsupportedData, errBinary)
			continue
		}
		msg, err := io.ReadAll(noticed{r, &w.heard})
		if err != nil {
			return nil, w.ended(err)
		}
		if !utf8.Valid(msg) { // gorilla leaves it to its caller to look
			w.end(websocket.CloseInvalidFramePayloadData, errNotText)
			continue
		}
		return msg, nil
	}
}

// noticed notes that bytes come: a large message on a slow line has no room for
// pongs in it.
type noticed struct {
	io.Reader
	heard *atomic.Bool
}

func (r noticed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.heard.Store(true)
	}
	return n, err
}

// ended returns why nothing more comes.
func (w *WebSocket) ended(err error) error {
	w.mu.Lock()
	cause := w.cause
	w.mu.Unlock()
	var closed *websocket.CloseError
	switch {
	case cause != nil:
		return cause
	case w.closing.Load():
		return io.EOF
	case errors.Is(err, websocket.ErrReadLimit):
		err := tooLong(w.max)
		w.end(websocket.CloseMessageTooBig, err) // unless gorilla has said so already
		return err
	case errors.As(err, &closed):
		switch closed.Code {
		case websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived:
			if closed.Text == "" {
				return io.EOF
			}
		}
		return closed
	}
	return fmt.Errorf("the connection was lost: %w", err)
}

// Write sends p as one text frame.
func (w *WebSocket) Write(p []byte) error {
	w.writing.Store(true)
	defer w.writing.Store(false)
	if err := w.ws.WriteMessage(websocket.TextMessage, p); err != nil {
		if errors.Is(err, ErrStalled) {
			return ErrStalled
		}
		return fmt.Errorf("the connection was lost: %w", err)
	}
	return nil
}

// Close tells the peer why and ends the transport. It may take closeWait.
func (w *WebSocket) Close(reason string) error {
	code := websocket.ClosePolicyViolation
	switch {
	case reason == Goodbye:
		code = websocket.CloseNormalClosure
	case reason == errInternal.Error():
		code = websocket.CloseInternalServerErr
	case w.code != nil:
		code = w.code()
	}
	w.close(code, reason)
	return nil
}

// Finish waits for the peer's answer to the close, a moment, and closes the
// connection. Read must have returned for good.
func (w *WebSocket) Finish() {
	w.close(websocket.CloseNormalClosure, "")
	w.ws.SetReadDeadline(time.Now().Add(closeWait))
	for {
		// Closing with bytes unread would reset the connection, and the peer
		// might never see the reason (RFC 9293 section 3.10.4).
		if _, _, err := w.ws.NextReader(); err != nil {
			break
		}
	}
	w.ws.Close()
}

// end closes for a reason of this side's own.
func (w *WebSocket) end(code int, cause error) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = cause
	}
	w.mu.Unlock()
	w.close(code, cause.Error())
}

func (w *WebSocket) close(code int, reason string) {
	w.once.Do(func() {
		w.mu.Lock()
		w.timer.Stop()
		w.closing.Store(true)
		w.mu.Unlock()
		until := time.Now().Add(closeWait)
		frame := websocket.FormatCloseMessage(code, clipReason(reason))
		err := w.ws.WriteControl(websocket.CloseMessage, frame, until)
		if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
			w.ws.Close() // it takes nothing: it cannot be told
			return
		}
		w.ws.SetReadDeadline(until)
	})
}

// clipReason cuts a reason to what fits, at a rune's edge.
func clipReason(s string) string {
	if len(s) <= maxReason {
		return s
	}
	n := maxReason
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// errSilent ends a connection whose peer is gone.
var errSilent = errors.New("the peer did not answer a ping")

// beat sends a ping, and a while later looks whether anything came. A peer that
// is being written to has its own bound, [Stall].
func (w *WebSocket) beat() {
	w.mu.Lock()
	if w.closing.Load() {
		w.mu.Unlock()
		return
	}
	look := w.asked
	silent := look && !w.heard.Load() && !w.writing.Load()
	switch {
	case look:
		w.timer.Reset(pingInterval - pongWait)
	default:
		w.heard.Store(false)
		w.timer.Reset(pongWait)
	}
	w.asked = !look
	w.mu.Unlock()
	switch {
	case silent:
		w.end(websocket.ClosePolicyViolation, errSilent)
	case !look:
		w.ping()
	}
}

// ping asks for a sign of life. A ping that could not be sent is no reason to
// expect one.
func (w *WebSocket) ping() {
	if w.writing.Load() || w.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(controlWait)) != nil {
		w.heard.Store(true)
	}
}
